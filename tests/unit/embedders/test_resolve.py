from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.embedders import (
    CachedEmbedder,
    OpenAIEmbedder,
    PrecomputedEmbedder,
    SentenceTransformersEmbedder,
    resolve_embedder,
)
from vecveil.embedders.packaged import minilm, mpnet


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_folder_is_a_sentence_transformers_model(tmp_path: Path, prefix: str) -> None:
    assert resolve_embedder(f"{prefix}{tmp_path}") == SentenceTransformersEmbedder(str(tmp_path))


def test_a_home_folder_is_found_behind_its_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert resolve_embedder("~/model") == SentenceTransformersEmbedder("~/model")


@pytest.mark.parametrize("prefix", ["", "sentence-transformers:"])
def test_a_hub_name_may_carry_a_revision(prefix: str) -> None:
    assert resolve_embedder(f"{prefix}acme/tiny") == SentenceTransformersEmbedder("acme/tiny")
    assert resolve_embedder(f"{prefix}acme/tiny@v1") == SentenceTransformersEmbedder("acme/tiny", revision="v1")


def test_a_service_may_carry_an_address() -> None:
    assert resolve_embedder("openai:toy") == OpenAIEmbedder("toy")
    assert resolve_embedder("openai:toy@https://host/v1") == OpenAIEmbedder("toy", base_url="https://host/v1")


def test_packaged_models_go_by_their_short_names() -> None:
    assert resolve_embedder("minilm") == minilm()
    assert resolve_embedder("mpnet") == mpnet()


def test_an_embedder_is_taken_as_it_is() -> None:
    embedder = PrecomputedEmbedder.of(["a"], np.ones((1, 2)), model="toy")
    assert resolve_embedder(embedder) is embedder


def test_a_cache_is_put_in_front_only_where_one_is_asked_for(tmp_path: Path) -> None:
    embedder = PrecomputedEmbedder.of(["a"], np.ones((1, 2)), model="toy")
    cached = resolve_embedder(embedder, cache=tmp_path)
    assert isinstance(cached, CachedEmbedder)
    assert cached.embedder is embedder
    assert cached.folder == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("spec", "guess"), [("minlm", "minilm"), ("opnai:toy", "openai"), ("MPNet", "mpnet")])
def test_a_misspelt_name_gets_a_guess(spec: str, guess: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown embedder .*did you mean '{guess}'"):
        resolve_embedder(spec)


@pytest.mark.parametrize("spec", ["", "/no/such/folder", "a b/c", ":"])
def test_what_is_no_spec_is_an_unknown_name(spec: str) -> None:
    with pytest.raises(
        UnknownNameError, match=r"known: minilm, mpnet, openai, openvino, precomputed, sentence-transformers"
    ):
        resolve_embedder(spec)


@pytest.mark.parametrize("spec", ["openai", "sentence-transformers", "precomputed:", "minilm:large"])
def test_a_name_without_what_it_needs_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInputError):
        resolve_embedder(spec)
