from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from support.travel_notes import travel_notes
from vecveil.attacks.generation.prior import Prior, load_prior
from vecveil.attacks.generation.tokenizer import train_tokenizer
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError
from vecveil.embedders import Fingerprint

EMBEDDER = Fingerprint(model="words", revision="1", dimensions=8, normalized=True)


@pytest.fixture
def prior(tmp_path: Path) -> Prior:
    return Prior(
        folder=tmp_path / "prior",
        attack="geia",
        embedder=EMBEDDER,
        settings={"width": 32},
        end=1,
        padding=0,
        plan={"sentences": 100},
        training={"decoder": {"steps": 3}},
    )


def test_a_saved_prior_is_the_same(prior: Prior) -> None:
    tokenizer = train_tokenizer(travel_notes()[0].texts, vocabulary=400)
    prior.save(tokenizer)
    assert load_prior(prior.folder) == prior
    found = prior.load_tokenizer()
    assert (found.size, found.end, found.padding) == (tokenizer.size, 1, 0)
    assert {path.name for path in prior.folder.iterdir()} == {"manifest.json", "tokenizer.json"}


def test_a_manifest_names_the_libraries_that_wrote_it(prior: Prior) -> None:
    prior.save()
    versions = json.loads((prior.folder / "manifest.json").read_text())["versions"]
    assert versions["torch"] == torch.__version__
    assert versions.keys() == {"vecveil", "torch", "transformers", "tokenizers"}


def test_its_key_tells_trainings_apart(prior: Prior) -> None:
    others = [
        replace(prior, attack="vec2text"),
        replace(prior, plan={"sentences": 101}),
        replace(prior, embedder=replace(EMBEDDER, revision="2")),
    ]
    assert len({prior.key, *(other.key for other in others)}) == 4
    assert replace(prior, finished=True, training={}).key == prior.key


def test_a_prior_reads_vectors_of_its_own_embedder_alone(prior: Prior) -> None:
    prior.require("geia", EMBEDDER, 8)
    prior.require("geia", None, 8)
    with pytest.raises(InvalidInputError, match="is a prior of the attack 'geia', not of 'vec2text'"):
        prior.require("vec2text", EMBEDDER, 8)
    with pytest.raises(
        EmbedderMismatchError, match=r"reads vectors of 'words' \(8 dimensions, revision 1\), not 'other'"
    ):
        prior.require("geia", replace(EMBEDDER, model="other"), 8)
    with pytest.raises(EmbedderMismatchError, match="not vectors of 9 dimensions"):
        prior.require("geia", None, 9)


def test_a_finished_network_is_read_before_the_one_in_training(prior: Prior) -> None:
    module, found = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    assert not prior.has_network("decoder")
    with pytest.raises(ArtifactError, match="holds no decoder yet; train it for longer"):
        prior.load_network(module, "decoder")
    prior.save()
    for place in (prior.training_folder("decoder") / "best", prior.folder / "decoder"):
        torch.nn.init.normal_(module.weight)
        place.parent.mkdir(exist_ok=True)
        replace(prior, folder=place.parent).save_network(module, place.name)
        assert prior.has_network("decoder")
        prior.load_network(found, "decoder")
        assert torch.equal(found.weight, module.weight)


def test_broken_priors_are_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="there is no prior"):
        load_prior(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"kind": "veil", "format": 1}))
    with pytest.raises(ArtifactError, match="is a veil of format 1"):
        load_prior(tmp_path)
    for broken in ("{", "[]", json.dumps({"kind": "prior", "format": 3})):
        (tmp_path / "manifest.json").write_text(broken)
        with pytest.raises(ArtifactError, match="can't be read as the manifest of a prior"):
            load_prior(tmp_path)
