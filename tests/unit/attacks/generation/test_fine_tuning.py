from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.travel_notes import travel_notes
from vecveil.attacks import TrainingRun
from vecveil.attacks.geia import Geia
from vecveil.attacks.generation.fine_tuning import FineTuning
from vecveil.attacks.generation.generative import PRIOR_RATE, SCRATCH_RATE
from vecveil.attacks.generation.prior import Prior
from vecveil.attacks.generation.tokenizer import train_tokenizer
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import Fingerprint

SAMPLE, HELD_OUT, _ = travel_notes()
PRIOR = Prior(
    folder=Path("prior"),
    attack="geia",
    embedder=Fingerprint(model="words", revision="1", dimensions=8, normalized=True),
    settings={},
    end=1,
    padding=0,
    plan={},
    training={"decoder": {"steps": 3}},
)


def _training(attack: Geia, *, prior: Prior | None = None, folder: Path | None = None, rows: int = 80) -> FineTuning:
    return FineTuning(
        attack=attack,
        run=TrainingRun(SAMPLE.rows(range(rows)), HELD_OUT, np.random.default_rng(0), folder),
        tokenizer=train_tokenizer(SAMPLE.texts, vocabulary=400),
        embed=None,
        prior=prior,
    )


def _options(attack: Geia, **choices: Any) -> dict[str, Any]:
    return _training(attack, **choices).options("decoder", share=1.0, derived=False)


@pytest.mark.parametrize(
    ("attack", "prior", "rate"),
    [
        (Geia(), None, SCRATCH_RATE),
        (Geia(), PRIOR, PRIOR_RATE),
        (Geia(decoder="gpt2"), None, Geia.paper_rate),
        (Geia(learning_rate=0.5), None, 0.5),
        (Geia(learning_rate=0.5), PRIOR, 0.5),
    ],
)
def test_the_learning_rate_suits_the_start_unless_one_is_given(attack: Geia, prior: Prior | None, rate: float) -> None:
    assert _options(attack, prior=prior)["schedule"].learning_rate == rate


def test_only_a_small_network_without_a_prior_is_not_pretrained() -> None:
    assert not _options(Geia())["pretrained"]
    assert _options(Geia(), prior=PRIOR)["pretrained"]
    assert _options(Geia(decoder="gpt2"))["pretrained"]
    assert _training(Geia()).options("decoder", share=1.0, derived=True)["pretrained"]


def test_the_key_of_a_checkpoint_tells_trainings_apart(tmp_path: Path) -> None:
    assert _options(Geia())["checkpoint"] is None
    trainings: list[dict[str, Any]] = [
        {"attack": Geia()},
        {"attack": Geia(epochs=3)},
        {"attack": Geia(), "rows": 79},
        {"attack": Geia(), "prior": PRIOR},
    ]
    checkpoints = [_options(**training, folder=tmp_path)["checkpoint"] for training in (*trainings, trainings[0])]
    assert {checkpoint.folder for checkpoint in checkpoints} == {tmp_path / "decoder"}
    assert len({checkpoint.key for checkpoint in checkpoints}) == 4
    assert checkpoints[0].key == checkpoints[-1].key


def test_too_few_texts_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="geia needs at least 20 training texts, got 5"):
        Geia().train(TrainingRun(SAMPLE.rows(range(5)), HELD_OUT, np.random.default_rng(0)))
    with pytest.raises(InvalidInputError, match="geia needs at least 1 held-out texts, got 0"):
        Geia().train(TrainingRun(SAMPLE, HELD_OUT.rows([]), np.random.default_rng(0)))
