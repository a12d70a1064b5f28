from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from support.embedders import WordEmbedder
from support.travel_notes import leakage, travel_notes
from vecveil.attacks import TrainingRun
from vecveil.attacks.geia import Geia
from vecveil.attacks.generation.generative import GenerativeAttack
from vecveil.attacks.generation.prior import load_prior
from vecveil.attacks.generation.prior_training import train_prior
from vecveil.attacks.vec2text import Vec2Text
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError

SIZES: dict[str, Any] = {
    "width": 32,
    "layers": 1,
    "heads": 2,
    "vocabulary": 400,
    "max_tokens": 8,
    "batch_size": 16,
    "learning_rate": 1e-2,
}
GEIA = Geia(**SIZES, hidden=64)
VEC2TEXT = Vec2Text(**SIZES, encoder_layers=1, positions=2, guesses=60)
EMBEDDER = WordEmbedder()


def public_notes() -> list[str]:
    sample, held_out, _ = travel_notes()
    return [*held_out.texts, *sample.texts, *held_out.texts]


def stopping_at(network: str, batch: int) -> Any:
    def progress(items: Any, *, label: str, **_: Any) -> Any:
        for number, item in enumerate(items):
            if network in label and number == batch:
                raise KeyboardInterrupt
            yield item

    return progress


@pytest.fixture
def quick_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.attacks.generation.prior_training.ROUND_SECONDS", 1e-9)
    monkeypatch.setattr("vecveil.attacks.generation.prior_training.WARMUP", 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("priors") / "geia"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vecveil.attacks.generation.prior_training.WARMUP", 5)
        train_prior(GEIA, public_notes(), EMBEDDER, folder, epochs=50)
    return folder


def test_an_attack_with_a_prior_reads_at_once_what_another_has_to_learn(folder: Path) -> None:
    sample, held_out, test = travel_notes()
    few = sample.rows(range(20))
    begun, fresh = (
        replace(GEIA, prior=prior, epochs=1, learning_rate=1e-3).train(
            TrainingRun(few, held_out, np.random.default_rng(0))
        )
        for prior in (str(folder), "")
    )
    assert leakage(begun.recover(test.vectors), test) > 0.6
    assert leakage(fresh.recover(test.vectors), test) < 0.4


def test_a_prior_says_what_it_is(folder: Path) -> None:
    prior = load_prior(folder)
    assert prior.finished
    assert prior.attack == "geia"
    assert prior.embedder == EMBEDDER.fingerprint
    assert prior.plan["sentences"] == len(public_notes())
    assert prior.training["decoder"]["held_out_loss"] < 2
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "tokenizer.json", "decoder.safetensors"}


def test_the_sizes_and_the_tokenizer_are_those_of_the_prior(folder: Path) -> None:
    sample, held_out, _ = travel_notes()
    trained = Geia(prior=str(folder), epochs=1).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
    assert trained.model.decoder.config.n_embd == 32
    assert trained.tokenizer.size == load_prior(folder).load_tokenizer().size


def test_a_prior_of_another_embedder_is_refused(folder: Path) -> None:
    sample, held_out, _ = travel_notes()
    other = WordEmbedder(revision="2").fingerprint
    with pytest.raises(EmbedderMismatchError, match="reads vectors of 'words'"):
        Geia(prior=str(folder), embedder=other).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
    wider = replace(sample, vectors=np.ones((len(sample), 9)))
    with pytest.raises(EmbedderMismatchError, match="not vectors of 9 dimensions"):
        Geia(prior=str(folder)).train(TrainingRun(wider, held_out, np.random.default_rng(0)))


def test_a_prior_of_another_attack_is_refused(folder: Path) -> None:
    sample, held_out, _ = travel_notes()
    with pytest.raises(InvalidInputError, match="is a prior of the attack 'geia', not of 'vec2text'"):
        Vec2Text(prior=str(folder), steps=0).train(TrainingRun(sample, held_out, np.random.default_rng(0)))


def test_noisy_vectors_are_brought_back_to_what_the_prior_knows(folder: Path) -> None:
    sample, held_out, _ = travel_notes()
    noisy = replace(sample, vectors=sample.vectors + 5 * np.random.default_rng(0).standard_normal(sample.vectors.shape))
    known = load_file(folder / "decoder.safetensors")["standardize.spread"]
    trained = Geia(prior=str(folder), epochs=1).train(TrainingRun(noisy, held_out, np.random.default_rng(0)))
    assert (trained.model.standardize.spread > 20 * known).all()


@pytest.mark.usefixtures("quick_rounds")
@pytest.mark.parametrize(("attack", "network"), [(GEIA, "decoder"), (VEC2TEXT, "inverter"), (VEC2TEXT, "corrector")])
def test_a_prior_that_was_stopped_goes_on_to_the_same_end(
    attack: GenerativeAttack, network: str, tmp_path: Path
) -> None:
    whole = train_prior(attack, public_notes(), EMBEDDER, tmp_path / "whole", epochs=2)
    with pytest.raises(KeyboardInterrupt):
        train_prior(attack, public_notes(), EMBEDDER, tmp_path / "stopped", epochs=2, progress=stopping_at(network, 3))
    assert not load_prior(tmp_path / "stopped").finished
    resumed = train_prior(attack, public_notes(), EMBEDDER, tmp_path / "stopped", epochs=2)
    assert resumed.training.keys() == whole.training.keys()
    for name in whole.training:
        one, other = (load_file(prior.folder / f"{name}.safetensors") for prior in (whole, resumed))
        assert all((one[key] == other[key]).all() for key in one)


@pytest.mark.usefixtures("quick_rounds")
def test_an_unfinished_prior_can_be_used(tmp_path: Path) -> None:
    sample, held_out, test = travel_notes()
    with pytest.raises(KeyboardInterrupt):
        train_prior(GEIA, public_notes(), EMBEDDER, tmp_path / "prior", progress=stopping_at("decoder", 4))
    attack = Geia(prior=str(tmp_path / "prior"), epochs=1)
    recovery = attack.train(TrainingRun(sample, held_out, np.random.default_rng(0))).recover(test.vectors)
    assert len(recovery.words) == len(test)


def test_time_limits_a_prior(tmp_path: Path) -> None:
    prior = train_prior(GEIA, public_notes(), EMBEDDER, tmp_path / "prior", hours=0.3 / 3600, epochs=10_000)
    assert prior.finished
    assert prior.training["decoder"]["steps"] < 10_000


def test_another_plan_in_the_same_folder_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match="begun with other epochs; repeat its command"):
        train_prior(GEIA, public_notes(), EMBEDDER, folder, epochs=4)
    with pytest.raises(InvalidInputError, match="begun with other digest, sentences"):
        train_prior(GEIA, public_notes()[1:], EMBEDDER, folder, epochs=50)
    with pytest.raises(EmbedderMismatchError):
        train_prior(GEIA, public_notes(), WordEmbedder(revision="2"), folder, epochs=50)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds something that is no prior"):
        train_prior(GEIA, public_notes(), EMBEDDER, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "mine"


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="a prior needs at least 100 sentences, got 3"):
        train_prior(GEIA, public_notes()[:3], EMBEDDER, tmp_path / "prior")
    with pytest.raises(InvalidInputError, match="takes no prior"):
        train_prior(replace(GEIA, prior="x"), public_notes(), EMBEDDER, tmp_path / "prior")
    with pytest.raises(InvalidInputError, match="hours must be"):
        train_prior(GEIA, public_notes(), EMBEDDER, tmp_path / "prior", hours=0.0)


def test_a_prior_without_its_weights_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    sample, held_out, _ = travel_notes()
    with pytest.raises(ArtifactError, match="holds no decoder yet"):
        Geia(prior=str(tmp_path)).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
    (tmp_path / "decoder.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ArtifactError, match="can't be read as weights"):
        Geia(prior=str(tmp_path)).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
