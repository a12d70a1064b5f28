from __future__ import annotations

from pathlib import Path

import pytest

from reproduction.priors import check_priors, prior_digest
from support.embedders import WordEmbedder
from vecveil.attacks.generation.prior import Prior
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError


def _prior(folder: Path, *, attack: str = "geia") -> Path:
    words = WordEmbedder().fingerprint
    Prior(folder=folder, attack=attack, embedder=words, settings={}, end=0, padding=1, plan={}, training={}).save()
    return folder


def test_a_prior_of_the_attack_and_the_embedder_is_taken(tmp_path: Path) -> None:
    given = {"geia": _prior(tmp_path / "prior")}
    assert check_priors(given, WordEmbedder()) == given


def test_a_prior_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="there is no prior"):
        check_priors({"geia": tmp_path}, WordEmbedder())
    with pytest.raises(InvalidInputError, match="belongs to geia or vec2text, got 'mlc'"):
        check_priors({"mlc": tmp_path}, WordEmbedder())


def test_a_prior_of_another_attack_or_embedder_is_refused(tmp_path: Path) -> None:
    prior = _prior(tmp_path / "prior", attack="vec2text")
    with pytest.raises(InvalidInputError, match="is a prior of the attack 'vec2text', not of 'geia'"):
        check_priors({"geia": prior}, WordEmbedder())
    with pytest.raises(EmbedderMismatchError, match="reads vectors of 'words'"):
        check_priors({"vec2text": prior}, WordEmbedder(revision="2"))


def test_a_prior_is_the_same_wherever_it_lies(tmp_path: Path) -> None:
    one, other = (_prior(tmp_path / name) for name in ("one", "other"))
    assert prior_digest(one) == prior_digest(other)
    assert prior_digest(_prior(tmp_path / "third", attack="vec2text")) != prior_digest(one)
