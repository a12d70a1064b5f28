"""The contract of shape learners, and planted evidence to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes import AttackLearner, ContrastPairs, Evidence, LabeledEmbeddings, ShapeLearner

if TYPE_CHECKING:
    import torch


def check_shape_learner(learner: ShapeLearner, *, dimensions: int = 12, pairs: int = 64) -> None:
    """Raise AssertionError unless `learner` keeps the contract.

    Args:
        learner: The learner to check.
        dimensions: Length of the vectors that it is tried on.
        pairs: Number of contrast pairs that it is tried on.
    """
    evidence = planted_evidence(dimensions=dimensions, pairs=pairs)
    contrast = evidence.pairs
    if isinstance(learner, AttackLearner):
        _check_needs_more(learner, contrast)
    before = contrast.with_concept.copy(), contrast.without_concept.copy()
    first, second = (learner.fit(evidence, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(contrast.with_concept, before[0]), "a learner must not change the pairs"
    assert np.array_equal(contrast.without_concept, before[1]), "a learner must not change the pairs"
    assert first.shape.dimensions == dimensions, "a shape must have the vectors' dimensions"
    assert np.array_equal(first.shape.variances, second.shape.variances), "the same seed must give the same shape"
    assert first.facts == second.facts, "the same seed must give the same facts"
    assert first.shape.released > 0
    assert all(isinstance(value, float) for value in first.facts.values()), "facts must be numbers"
    assert isinstance(learner.presets, dict)


def planted_pairs(*, dimensions: int, pairs: int, moved: int, seed: int = 0) -> ContrastPairs:
    """Return pairs in which the concept moves the first `moved` dimensions and no others."""
    rng = np.random.default_rng(seed)
    without = rng.standard_normal((pairs, dimensions))
    difference = np.zeros((pairs, dimensions))
    difference[:, :moved] = 1 + 0.3 * rng.standard_normal((pairs, moved))
    return ContrastPairs((without + difference).astype(np.float32), without.astype(np.float32))


def planted_evidence(*, dimensions: int = 12, pairs: int = 64) -> Evidence:
    """Return pairs, a corpus and an attacker in which the concept moves the first third of the dimensions."""
    contrast = planted_pairs(dimensions=dimensions, pairs=pairs, moved=dimensions // 3)
    attacker = planted_attacker(dimensions=dimensions, words=dimensions // 3)
    corpus = LabeledEmbeddings(vectors=attacker.vectors, words=attacker.words)
    return Evidence(contrast, corpus, lambda *_: attacker, lambda: contrast)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlantedAttack:
    """A trained attack: one linear output per word."""

    network: torch.nn.Module
    vocabulary: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlantedAttacker:
    """An attacker that needs no texts and no epochs: least squares from vectors to words.

    Attributes:
        vectors: One row per text that might be.
        words: The sensitive words of each.
        held_out: Rows that it does not train on.
    """

    vectors: Embeddings
    words: tuple[tuple[str, ...], ...]
    held_out: tuple[int, ...]

    def train(self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent) -> PlantedAttack:
        """Return the linear attack that fits `vectors` best."""
        import torch

        vocabulary = tuple(sorted({word for words in self.words for word in words}))
        kept = np.setdiff1d(np.arange(len(self.words)), self.held_out)
        targets = np.array([[word in self.words[row] for word in vocabulary] for row in kept], dtype=np.float64)
        inputs = np.column_stack([vectors[kept], np.ones(kept.size)])
        solution = np.linalg.lstsq(inputs, 2 * targets - 1, rcond=None)[0].astype(np.float32)
        with torch.random.fork_rng(devices=[]):
            network = torch.nn.Linear(vectors.shape[1], len(vocabulary))
        network.load_state_dict({"weight": torch.from_numpy(solution[:-1].T), "bias": torch.from_numpy(solution[-1])})
        return PlantedAttack(network=network, vocabulary=vocabulary)


def planted_attacker(*, dimensions: int, words: int, rows: int = 96, seed: int = 0) -> PlantedAttacker:
    """Return an attacker on a corpus in which word i moves dimension i and no other; every third text has no word."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((rows, dimensions))
    chosen = [() if row % 3 == 0 else (int(rng.integers(words)),) for row in range(rows)]
    for row, numbers in enumerate(chosen):
        vectors[row, list(numbers)] += 4
    return PlantedAttacker(
        vectors=vectors.astype(np.float32),
        words=tuple(tuple(f"word{number}" for number in numbers) for numbers in chosen),
        held_out=tuple(range(rows - rows // 6, rows)),
    )


def _check_needs_more(learner: ShapeLearner, contrast: ContrastPairs) -> None:
    try:
        learner.fit(Evidence(contrast), np.random.default_rng(3))
    except InvalidInputError:
        return
    raise AssertionError("a learner that looks through an attack must say so where it gets none")
