"""Trained boosted trees, what they see of a vector, and what they read out of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks.attack import Sample
from vecveil.attacks.word_classifier import WordClassifier
from vecveil.attacks.words import Flags
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import embeddings

FOLDS = 5
"""Parts of the training texts, each judged by a regression on the others."""

RIDGE, LEAST_RIDGE = 0.1, 1e-12
"""Penalty of the regression: as a share of the mean power of what it looks at, and where nothing has any power."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Clues:
    """What the trees see of a vector: its principal components, and what a kernel ridge regression says of each word.

    Attributes:
        components: The principal components as columns.
        kernel: Vectors to how near they come to landmarks among the training vectors.
        centre: Mean of the latter.
        weights: From there to an opinion on each word.
    """

    components: Matrix
    kernel: Any
    centre: Vector
    weights: Matrix

    def of(self, vectors: Embeddings) -> Matrix:
        """Return the clues of each vector."""
        wide = np.asarray(vectors, dtype=np.float64)
        return np.hstack([wide @ self.components, (self.kernel.transform(wide) - self.centre) @ self.weights])

    @classmethod
    def fit(
        cls, sample: Sample, truth: Flags, rng: np.random.Generator, *, components: int, landmarks: int
    ) -> tuple[Clues, Matrix]:
        """Return how clues are found, and those of the training vectors.

        The opinions on a training vector come from a regression on other texts: of its own it would be surer than of
        any that the trees will meet later.
        """
        from sklearn.kernel_approximation import Nystroem
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        rows, dimensions = sample.vectors.shape
        wide = np.asarray(sample.vectors, dtype=np.float64)
        nearness = Nystroem(
            gamma=1 / dimensions, n_components=min(landmarks, rows), random_state=int(rng.integers(2**31))
        )
        kernel = make_pipeline(StandardScaler(), nearness).fit(wide)
        near = kernel.transform(wide)
        centre = near.mean(axis=0)
        weights, opinions = _regression(near - centre, truth - truth.mean(axis=0), _folds(sample, rng))
        moved = wide - wide.mean(axis=0)
        axes = np.linalg.eigh(moved.T @ moved).eigenvectors[:, ::-1][:, :components]
        return cls(components=axes, kernel=kernel, centre=centre, weights=weights), np.hstack([wide @ axes, opinions])


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedBoosted(WordClassifier):
    """Trained trees.

    Attributes:
        clues: What the trees see of a vector.
        trees: A boosted classifier for each word.
        rounds: How many of their trees count.
    """

    clues: Clues
    trees: tuple[Any, ...]
    rounds: int

    def probabilities(self, vectors: Embeddings) -> Matrix:
        """Return, for each vector, the probability of each word."""
        from threadpoolctl import threadpool_limits

        released = embeddings(vectors, dimensions=self.dimensions)
        if not len(released):
            return np.zeros((0, len(self.vocabulary)))
        with threadpool_limits(limits=1):
            clues = self.clues.of(released)
            chances = [next(islice(staged(one, clues), self.rounds - 1, None)) for one in self.trees]
        return np.stack(chances, axis=1)


def staged(classifier: Any, clues: Matrix) -> Iterator[Vector]:
    """Yield the probability of a classifier's word for each row, after one of its rounds, after two, and so on."""
    return (chances[:, 1] for chances in classifier.staged_predict_proba(clues))


def _regression(near: Matrix, truth: Matrix, folds: NDArray[np.intp]) -> tuple[Matrix, Matrix]:
    """Return the weights of a ridge regression, and what one that has not seen a row's fold says of the row."""
    gram, crossed = near.T @ near, near.T @ truth
    penalty = max(RIDGE * float(np.trace(gram)) / near.shape[1], LEAST_RIDGE) * np.eye(near.shape[1])
    opinions = np.empty(truth.shape)
    for fold in range(FOLDS):
        rows = folds == fold
        part = near[rows]
        opinions[rows] = part @ np.linalg.solve(gram - part.T @ part + penalty, crossed - part.T @ truth[rows])
    return np.linalg.solve(gram + penalty, crossed), opinions


def _folds(sample: Sample, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the fold of each row; releases of one text stay together."""
    numbers: dict[str, int] = {}
    rows = [numbers.setdefault(text, len(numbers)) for text in sample.texts]
    return np.asarray(rng.permutation(len(numbers))[rows] % FOLDS)
