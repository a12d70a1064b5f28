"""Ridge regression of sensitive words on vectors: a reader in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vecveil.attacks.attack import Attack, Sample, TrainingRun, WordClassifier
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import embeddings, fraction

PENALTIES = (0.03, 0.3, 3.0)
"""Over the mean variance of a dimension; the one that reads held-out texts best is taken."""

SMALLEST = 1e-30
"""Mean variance of vectors that are all the same."""


@dataclass(frozen=True, kw_only=True)
class Ridge(Attack):
    """Reads each word by the best linear reader of it that pays for long weights. It takes a fraction of a second.

    What it reads goes first where directions are left out; a network or the nearest text may read on.

    Attributes:
        threshold: Probability from which a word is claimed.
    """

    threshold: float = 0.5

    def __post_init__(self) -> None:
        fraction(self.threshold, "threshold")

    def train(self, run: TrainingRun) -> TrainedRidge:
        """Return the readers of all words."""
        vocabulary = run.require_words("ridge")
        vectors = np.asarray(run.sample.vectors, dtype=np.float64)
        truth = run.sample.mark_words(vocabulary).astype(np.float64)
        center, frequencies = vectors.mean(axis=0), truth.mean(axis=0)
        moved = vectors - center
        spread = moved.T @ moved / len(moved)
        told = moved.T @ (truth - frequencies) / len(moved)
        level = max(float(np.diag(spread).mean()), SMALLEST)
        attacks = [
            TrainedRidge(
                vocabulary=vocabulary,
                dimensions=vectors.shape[1],
                threshold=self.threshold,
                weights=np.linalg.solve(spread + penalty * level * np.eye(len(spread)), told),
                center=center,
                frequencies=frequencies,
            )
            for penalty in PENALTIES
        ]
        return min(attacks, key=lambda attack: attack.error(run.held_out)) if len(run.held_out) else attacks[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedRidge(WordClassifier):
    """One linear reader for each word.

    Attributes:
        weights: One column for each word.
        center: Mean of the training vectors.
        frequencies: Share of the training texts that hold each word.
    """

    weights: Matrix = field(repr=False)
    center: Vector = field(repr=False)
    frequencies: Vector = field(repr=False)

    def probabilities(self, vectors: Embeddings) -> Matrix:
        """Return, for each vector, the estimate of each word's presence, cut to what a probability can be."""
        released = np.asarray(embeddings(vectors, dimensions=self.dimensions), dtype=np.float64)
        return np.asarray(np.clip((released - self.center) @ self.weights + self.frequencies, 0.0, 1.0))

    def error(self, held_out: Sample) -> float:
        """Return the mean squared error on held-out texts, each word over its variance."""
        truth = held_out.mark_words(self.vocabulary)
        scale = np.maximum(self.frequencies * (1 - self.frequencies), 1e-12)
        return float((((self.probabilities(held_out.vectors) - truth) ** 2) / scale).mean())
