from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from vecveil.attacks import Sample, TrainingRun
from vecveil.attacks.mlc import Mlc, TrainedMlc
from vecveil.audit.audit import attack_from_spec
from vecveil.concepts import SensitiveToken
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.testing.toy_notes import UNSEEN, ranking, toy_notes

NOTES = toy_notes()
QUICK: dict[str, Any] = {"hidden": (32,), "learning_rate": 1e-2, "epochs": 25}


class Steps:
    """A progress that counts."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, items: Any, **_: Any) -> Iterator[Any]:
        for item in items:
            self.seen += 1
            yield item


def trained(attack: Mlc | None = None, sample: Sample = NOTES.train, **more: Any) -> TrainedMlc:
    return (attack or Mlc(**QUICK)).train(TrainingRun(sample, NOTES.held_out, np.random.default_rng(0), **more))


def rare_words(words: int, rows: int) -> Sample:
    """Return texts of one word each out of many, below noise."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(words, size=rows)
    vectors = rng.standard_normal((words, 64))[chosen] + 1.5 * rng.standard_normal((rows, 64))
    tokens = tuple((SensitiveToken(f"word{word}", "X"),) for word in chosen)
    return Sample(vectors=vectors.astype(np.float32), texts=tuple(map(str, range(rows))), tokens=tokens)


def test_a_vocabulary_of_one_word_is_refused_with_its_size() -> None:
    alone = replace(NOTES.train, tokens=((SensitiveToken("rome", "GPE"),),) * len(NOTES.train))
    with pytest.raises(InvalidInputError, match="at least 2 sensitive words to tell apart, the training texts hold 1;"):
        trained(sample=alone)


def test_words_in_few_texts_are_left_out_however_often_they_were_released() -> None:
    tokens = ((SensitiveToken("once", "X"),), *NOTES.train.tokens[1:])
    twice = replace(NOTES.train, tokens=tokens).rows([*range(len(NOTES.train))] * 2)
    assert "once" in trained(Mlc(**QUICK), twice).vocabulary
    assert "once" not in trained(Mlc(**QUICK, rarest=2), twice).vocabulary
    with pytest.raises(InvalidInputError, match="hold 0 in 999 texts or more"):
        trained(Mlc(**QUICK, rarest=999))


def test_the_lower_the_threshold_the_more_is_claimed() -> None:
    claimed = [
        sum(map(len, trained(Mlc(**QUICK, threshold=threshold)).recover(NOTES.test.vectors).words))
        for threshold in (0.05, 0.5, 0.95)
    ]
    assert claimed[0] > claimed[1] > claimed[2] > 0


def test_a_word_is_claimed_from_the_threshold_on() -> None:
    attack = trained()
    recovery = attack.recover(NOTES.test.vectors)
    columns = {word: column for column, word in enumerate(recovery.vocabulary)}
    for row, read in zip(recovery.scores, recovery.words, strict=True):
        assert read == {word for word, column in columns.items() if row[column] >= 0.5}


def test_a_word_that_was_never_seen_has_no_confidence() -> None:
    confidence = trained().confidence(NOTES.test)
    found = [
        value
        for tokens, values in zip(NOTES.test.tokens, confidence, strict=True)
        for token, value in zip(tokens, values, strict=True)
        if token.word == UNSEEN
    ]
    assert found == [0.0]


def test_training_stops_early_where_there_is_nothing_to_learn() -> None:
    steps, noise = Steps(), toy_notes(unrelated=True)
    attack = Mlc(**{**QUICK, "epochs": 400}, patience=3, batch_size=60)
    attack.train(TrainingRun(noise.train, noise.held_out, np.random.default_rng(0), progress=steps))
    assert steps.seen < 2 * 40


def test_training_goes_on_while_nothing_is_claimed_yet() -> None:
    """Rare words reach no threshold for many epochs; a training that stopped there would rank words by chance."""
    whole = rare_words(words=60, rows=300)
    attack = Mlc(hidden=(64,), patience=3)
    read = attack.train(TrainingRun(whole.rows(range(200)), whole.rows(range(200, 240)), np.random.default_rng(0)))
    assert ranking(read.recover(whole.vectors[240:]), whole.rows(range(240, 300))) > 0.65


def test_held_out_texts_without_a_known_word_are_refused() -> None:
    nothing = replace(NOTES.held_out, tokens=((SensitiveToken("atlantis", "GPE"),),) * len(NOTES.held_out))
    for held_out in (nothing, nothing.rows([])):
        with pytest.raises(InvalidInputError, match="stopped by what it reads of held-out texts"):
            Mlc().train(TrainingRun(NOTES.train, held_out, np.random.default_rng(0)))


def test_threads_and_random_numbers_are_left_as_they_were() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)

    def broken(items: Any, **_: Any) -> Iterator[Any]:
        assert torch.get_num_threads() == 1
        raise KeyboardInterrupt
        yield from items

    with pytest.raises(KeyboardInterrupt):
        trained(progress=broken)
    assert torch.get_num_threads() == 2
    assert torch.equal(torch.rand(1), expected)
    torch.set_num_threads(threads)


def test_the_network_is_the_same_in_training_and_in_use() -> None:
    network = trained(Mlc(hidden=(8, 4), epochs=1)).network
    vectors = torch.from_numpy(NOTES.test.vectors)
    used = network(vectors)
    torch.testing.assert_close(network.train()(vectors), used, rtol=0, atol=0)
    widths = [tuple(layer.weight.shape) for layer in network.modules() if isinstance(layer, torch.nn.Linear)]
    assert widths == [(8, 32), (4, 8), (12, 4)]


def test_vectors_may_be_backwards_read_only_or_wide() -> None:
    attack = trained()
    locked = NOTES.test.vectors.copy()
    locked.setflags(write=False)
    expected = attack.recover(NOTES.test.vectors).scores
    np.testing.assert_array_equal(attack.recover(locked).scores, expected)
    np.testing.assert_allclose(attack.recover(locked[::-1]).scores, expected[::-1], rtol=1e-5)
    np.testing.assert_array_equal(attack.recover(locked.astype(np.float64)).scores, expected)


def test_vectors_of_other_dimensions_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="vectors must have 32 dimensions, got 5"):
        trained().recover(np.ones((2, 5)))


def test_a_checkpoint_of_the_same_vectors_with_other_words_is_refused(tmp_path: Path) -> None:
    trained(folder=tmp_path)
    with pytest.raises(ArtifactError, match="belongs to another training"):
        trained(sample=replace(NOTES.train, tokens=NOTES.train.tokens[::-1]), folder=tmp_path)
    with pytest.raises(ArtifactError, match="belongs to another training"):
        trained(Mlc(**{**QUICK, "epochs": 26}), folder=tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden": (8, 0)}, "each width of hidden must be a whole number of at least 1, got 0"),
        ({"hidden": 512}, "hidden must be a list of widths, got 512"),
        ({"learning_rate": 0}, "learning_rate must be a finite number above zero, got 0"),
        ({"positive_weight": -1.0}, "positive_weight must be"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"epochs": 2.5}, "epochs must be a whole number of at least 1, got 2.5"),
        ({"patience": 0}, "patience must be"),
        ({"rarest": 0}, "rarest must be"),
        ({"threshold": 1.0}, "threshold must lie between 0 and 1, got 1.0"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Mlc(**settings)


def test_settings_from_json_are_the_same_settings() -> None:
    settings: dict[str, Any] = {"hidden": [32, 16]}
    assert Mlc(**settings) == Mlc(hidden=(32, 16))


def test_the_printed_network_takes_vectors_as_they_come_and_every_epoch() -> None:
    steps = Steps()
    attack = Mlc(**QUICK, patience=1, printed=True)
    found = trained(attack, progress=steps)
    assert steps.seen == QUICK["epochs"] * -(-len(NOTES.train) // attack.batch_size)
    assert [type(layer).__name__ for layer in found.network.children()] == ["Linear", "ReLU", "Linear"]
    moved = found.probabilities(NOTES.held_out.vectors + np.float32(1))
    assert not np.allclose(moved, found.probabilities(NOTES.held_out.vectors))
    assert attack_from_spec("mlc,printed=true").attack == Mlc(printed=True)
