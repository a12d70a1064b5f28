"""The contract of attacks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, TypeVar

import numpy as np

from vecveil.attacks import Attack, Recovery, Sample, TrainedAttack, TrainingRun
from vecveil.concepts import words
from vecveil.core.arrays import Vector
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.testing.toy_notes import Notes, leakage, ranking, toy_notes

T = TypeVar("T")

Reading: TypeAlias = tuple[object, ...]

CLEARLY = 0.3
"""How far above chance an attack must read vectors without a defense: tokens of them, as a share."""

BY_LUCK = 0.15
"""How far above chance it may come on the vectors of other texts; four standard deviations of the toy's leakage."""


def check_attack(attack: Attack, *, brief: Attack | None = None) -> None:
    """Raise AssertionError unless `attack` keeps the contract.

    Args:
        attack: Trained long enough to read the toy notes, 120 texts of four words with vectors of 32 dimensions. One
            that needs access to the model gets `vecveil.testing.toy_notes.embed_words`.
        brief: The same with fewer epochs, for what does not take a good attack; the attack itself where None.
    """
    assert attack.releases >= 1, "an attack must see at least one release of each record"
    notes, short = toy_notes(), brief or attack
    _check_reading(_train(attack, notes), notes)
    _check_blindness(short)
    expected, steps = _what_it_reads(short, notes)
    with TemporaryDirectory() as folder:
        _check_folder(short, notes, expected, Path(folder) / "whole")
        if steps > 3:
            _check_going_on(short, notes, expected, steps, Path(folder) / "stopped")


def _check_reading(trained: TrainedAttack, notes: Notes) -> None:
    vectors = notes.test.vectors.copy()
    recovery, confidence = trained.recover(notes.test.vectors), trained.confidence(notes.test)
    assert np.array_equal(notes.test.vectors, vectors), "an attack must not change the vectors that it reads"
    _check_recovery(recovery, len(notes.test), notes.train)
    _check_confidence(confidence, notes.test)
    own, chance = leakage(recovery, notes.test)
    assert own > chance + CLEARLY, f"an attack must read more than chance, got {own:.2f} and {chance:.2f}"
    assert ranking(recovery, notes.test) > 0.5 + CLEARLY / 2, "words that are there must score above others"
    others = Sample(vectors=np.roll(vectors, 7, axis=0), texts=notes.test.texts, tokens=notes.test.tokens)
    assert _mean(confidence) > _mean(trained.confidence(others)), "confidence must come from the vector"
    try:
        nothing = trained.recover(vectors[:0])
    except InvalidInputError:
        return
    _check_recovery(nothing, 0, notes.train)


def _check_recovery(recovery: Recovery, rows: int, train: Sample) -> None:
    columns = len(recovery.vocabulary)
    assert len(recovery.words) == rows, "a recovery must have one set of words per vector"
    assert len(set(recovery.vocabulary)) == columns, "a vocabulary must hold each word once"
    assert set(recovery.vocabulary) <= set(train.vocabulary), "an attack knows the words of its training texts only"
    assert recovery.scores.shape == (rows, columns), "scores must have a row per vector and a column per word"
    assert np.isfinite(recovery.scores).all(), "scores must be finite"
    if recovery.texts is None:
        assert all(words(word) == (word,) for read in recovery.words for word in read), (
            "words must be as vecveil.concepts.words gives them"
        )
        return
    assert len(recovery.texts) == rows, "a recovery must have one text per vector, or none at all"
    pairs = zip(recovery.texts, recovery.words, strict=True)
    assert all(read == frozenset(words(text)) for text, read in pairs), "words must be those of the texts"


def _check_confidence(confidence: tuple[Vector, ...], sample: Sample) -> None:
    assert [values.shape for values in confidence] == [(len(tokens),) for tokens in sample.tokens], (
        "confidence must be one number per token, row by row"
    )
    together = np.concatenate(confidence)
    assert ((together >= 0) & (together <= 1)).all(), "confidence must be a probability"


def _check_blindness(attack: Attack) -> None:
    notes = toy_notes(unrelated=True)
    own, chance = leakage(_train(attack, notes).recover(notes.test.vectors), notes.test)
    assert own < chance + BY_LUCK, f"random vectors must give no more than chance, got {own:.2f} and {chance:.2f}"


def _check_folder(attack: Attack, notes: Notes, expected: Reading, folder: Path) -> None:
    found, _ = _what_it_reads(attack, notes, folder=folder)
    assert found == expected, "the same samples and generator state must give the same attack, in a folder or not"
    again, _ = _what_it_reads(attack, notes, folder=folder)
    assert again == expected, "a training that is over must be taken from its folder as it was"


def _check_going_on(attack: Attack, notes: Notes, expected: Reading, steps: int, folder: Path) -> None:
    try:
        _train(attack, notes, folder=folder, progress=_Steps(stop=steps // 2))
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("the same samples and generator state must take the same steps")
    found, rest = _what_it_reads(attack, notes, folder=folder)
    assert rest < steps, "a training that was stopped must go on from its folder"
    assert found == expected, "a training that was stopped must end as if it had not been"


@dataclass
class _Steps:
    """A progress that counts, and that is interrupted before step number `stop`."""

    stop: int | None = None
    seen: int = 0

    def __call__(
        self, items: Iterable[T], *, label: str, total: int | None = None, weigh: Callable[[T], int] | None = None
    ) -> Iterator[T]:
        for item in items:
            if self.seen == self.stop:
                raise KeyboardInterrupt
            self.seen += 1
            yield item


def _train(attack: Attack, notes: Notes, *, folder: Path | None = None, progress: Progress = silent) -> TrainedAttack:
    before = notes.train.vectors.copy(), notes.held_out.vectors.copy()
    trained = attack.train(TrainingRun(notes.train, notes.held_out, np.random.default_rng(5), folder, progress))
    assert np.array_equal(notes.train.vectors, before[0]), "an attack must not change the vectors that it learns from"
    assert np.array_equal(notes.held_out.vectors, before[1]), "an attack must not change the vectors that it stops by"
    return trained


def _what_it_reads(attack: Attack, notes: Notes, *, folder: Path | None = None) -> tuple[Reading, int]:
    """Return everything that a freshly trained attack reads, to the last bit, and the steps that its training took."""
    steps = _Steps()
    trained = _train(attack, notes, folder=folder, progress=steps)
    recovery, confidence = trained.recover(notes.test.vectors), trained.confidence(notes.test)
    numbers = (recovery.scores, *confidence)
    return (recovery.words, recovery.texts, *(values.tobytes() for values in numbers)), steps.seen


def _mean(confidence: tuple[Vector, ...]) -> float:
    return float(np.concatenate(confidence).mean())
