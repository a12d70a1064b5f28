from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vecveil.attacks import TrainingRun
from vecveil.attacks.averaging import Averaging
from vecveil.attacks.mlc import Mlc
from vecveil.attacks.nearest import NearestNeighbor
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.embedders import Fingerprint
from vecveil.testing.toy_notes import embed_words, toy_notes

SETTINGS: dict[str, Any] = {"hidden": (16,), "learning_rate": 1e-2, "epochs": 4}
NOTES = toy_notes()


def test_averaging_is_its_base_on_means(tmp_path: Path) -> None:
    averaging = Averaging(releases=3, settings=SETTINGS).train(
        TrainingRun(NOTES.train, NOTES.held_out, np.random.default_rng(0), folder=tmp_path / "kept")
    )
    base = Mlc(**SETTINGS).train(TrainingRun(NOTES.train, NOTES.held_out, np.random.default_rng(0)))
    vectors = NOTES.test.vectors
    np.testing.assert_array_equal(averaging.recover(vectors).scores, base.recover(vectors).scores)
    assert (tmp_path / "kept").is_dir()


def test_the_number_of_releases_is_what_the_audit_asks_for() -> None:
    assert Averaging(releases=5).releases == 5
    with pytest.raises(InvalidInputError, match="releases must be a whole number of at least 2, got 1"):
        Averaging(releases=1)


def test_averaging_is_not_its_own_base() -> None:
    with pytest.raises(InvalidInputError, match="can't be its own base"):
        Averaging(base="averaging")


def test_the_base_and_its_settings_are_checked_at_birth() -> None:
    with pytest.raises(UnknownNameError, match="unknown attack 'mcl'; did you mean 'mlc'"):
        Averaging(base="mcl")
    with pytest.raises(UnknownNameError, match="setting of the attack 'nearest' 'neighbor'; did you mean 'neighbors'"):
        Averaging(base="nearest", settings={"neighbor": 3})
    with pytest.raises(InvalidInputError, match="epochs must be a whole number of at least 1, got -1"):
        Averaging(settings={"epochs": -1})
    text: Any = "neighbors=3"
    with pytest.raises(InvalidInputError, match="must be names and values, got 'neighbors=3'"):
        Averaging(base="nearest", settings=text)


def test_access_to_the_model_reaches_a_base_that_can_use_it() -> None:
    asked: list[str] = []

    def embed(texts: Any) -> Any:
        asked.extend(texts)
        return embed_words(texts)

    rng = np.random.default_rng(0)
    trained = Averaging(base="nearest", embed=embed).train(TrainingRun(NOTES.train, NOTES.held_out, rng))
    alone = NearestNeighbor(embed=embed_words).train(TrainingRun(NOTES.train, NOTES.held_out, rng))
    assert set(asked) == set(NOTES.train.texts)
    assert trained.recover(NOTES.test.vectors).texts == alone.recover(NOTES.test.vectors).texts


def test_the_models_fingerprint_reaches_a_base_that_starts_from_a_prior(tmp_path: Path) -> None:
    """A prior of another model is refused by whoever knows which model it is."""
    made_with = Fingerprint(model="words", revision="1", dimensions=32, normalized=True)
    attack = Averaging(base="geia", settings={"prior": str(tmp_path)}, embedder=made_with)
    assert getattr(attack._build_base(), "embedder", None) == made_with


def test_a_base_that_can_not_use_it_is_left_as_it_is() -> None:
    trained = Averaging(settings=SETTINGS, embed=embed_words).train(
        TrainingRun(NOTES.train, NOTES.held_out, np.random.default_rng(0))
    )
    assert trained.recover(NOTES.test.vectors).texts is None
