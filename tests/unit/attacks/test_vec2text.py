from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from support.embedders import WordEmbedder
from support.travel_notes import leakage, travel_notes
from vecveil.attacks import TrainingRun
from vecveil.attacks.generation.corrector import TrainedVec2Text
from vecveil.attacks.vec2text import Vec2Text
from vecveil.core.errors import InvalidInputError

TINY: dict[str, Any] = {
    "width": 32,
    "layers": 1,
    "encoder_layers": 1,
    "heads": 2,
    "positions": 2,
    "vocabulary": 400,
    "max_tokens": 8,
    "batch_size": 16,
    "dropout": 0.0,
}


@pytest.fixture(scope="module")
def trained() -> TrainedVec2Text:
    sample, held_out, _ = travel_notes()
    attack = Vec2Text(
        **TINY, learning_rate=1e-2, epochs=35, patience=50, steps=2, embed=WordEmbedder(dtype="float64").embed
    )
    return attack.train(TrainingRun(sample, held_out, np.random.default_rng(0)))


def test_words_that_are_in_the_vectors_are_read_back(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    assert leakage(trained.recover(test.vectors), test) > 0.6


def test_the_first_guess_alone_reads_too(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    assert leakage(trained.inverter.recover(test.vectors), test) > 0.5


def test_corrections_come_nearer_or_stay(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    first = trained.inverter.recover(test.vectors).texts
    last = trained.recover(test.vectors).texts
    assert first is not None
    assert last is not None
    nearness = [np.sum(WordEmbedder().embed(texts) * test.vectors, axis=1) for texts in (first, last)]
    assert (nearness[1] >= nearness[0] - 1e-6).all()


def test_a_text_that_the_attacker_knows_is_found_however_badly_it_writes() -> None:
    sample, held_out, _ = travel_notes()
    settings = {**TINY, "max_tokens": 16, "epochs": 1, "steps": 1, "embed": WordEmbedder().embed}
    found = {
        recall: Vec2Text(**settings, recall=recall).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
        for recall in (True, False)
    }
    texts = {recall: attack.recover(sample.vectors).texts for recall, attack in found.items()}
    # Other texts may have the same vector here, so the words are what must agree.
    known = [set(text.split()) for text in sample.texts]
    right = {
        recall: np.mean([set(text.split()) == words for text, words in zip(read or (), known, strict=True)])
        for recall, read in texts.items()
    }
    assert right[True] > 0.9
    assert right[False] < 0.1


def test_nothing_is_read_from_vectors_of_other_texts() -> None:
    sample, held_out, test = travel_notes(shuffled=True)
    attack = Vec2Text(**TINY, learning_rate=1e-2, epochs=5, steps=0)
    assert (
        leakage(attack.train(TrainingRun(sample, held_out, np.random.default_rng(0))).recover(test.vectors), test) < 0.4
    )


def test_confidence_is_a_probability_of_each_true_token(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    for attack in (trained, trained.inverter):
        confidence = np.array(attack.confidence(test))
        assert confidence.shape == (len(test), 2)
        assert ((confidence > 0) & (confidence <= 1)).all()
        assert confidence.mean() > 0.3


def test_beams_read_at_least_something(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    wide = replace(
        trained,
        inverter=replace(trained.inverter, beams=2),
        corrector=replace(trained.corrector, beams=2),
    )
    assert leakage(wide.recover(test.vectors), test) > 0.5


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    sample, held_out, _ = travel_notes()
    attack = Vec2Text(**{**TINY, "dropout": 0.2}, epochs=2, steps=1, embed=WordEmbedder().embed)
    whole = attack.train(TrainingRun(sample, held_out, np.random.default_rng(0)))

    def stopping(items: Any, *, label: str, **_: Any) -> Any:
        for number, item in enumerate(items):
            if "corrector" in label and number == 7:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        attack.train(TrainingRun(sample, held_out, np.random.default_rng(0), folder=tmp_path, progress=stopping))
    resumed = attack.train(TrainingRun(sample, held_out, np.random.default_rng(0), folder=tmp_path))
    for one, other in (
        (whole.inverter.model, resumed.inverter.model),
        (whole.corrector.model, resumed.corrector.model),
    ):
        for name, value in one.state_dict().items():
            torch.testing.assert_close(other.state_dict()[name], value, rtol=0, atol=0)


def test_corrections_need_the_model() -> None:
    sample, held_out, _ = travel_notes()
    with pytest.raises(InvalidInputError, match=r"pass embed, or set steps to 0 \(got 3\)"):
        Vec2Text(**TINY).train(TrainingRun(sample, held_out, np.random.default_rng(0)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": -1}, "steps must be a whole number of at least 0, got -1"),
        ({"positions": 0}, "positions must be a whole number of at least 1, got 0"),
        ({"inverter": ""}, "inverter must be 'small', a name or a folder, got ''"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Vec2Text(**settings)
