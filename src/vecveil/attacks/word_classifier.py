"""A trained attack that gives each sensitive word a probability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from vecveil.attacks.attack import Recovery, Sample
from vecveil.attacks.words import known_scores
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.progress import Progress, silent


@dataclass(frozen=True, kw_only=True, eq=False)
class WordClassifier(ABC):
    """Claims the words whose probability is high enough.

    Attributes:
        vocabulary: The words that were learned.
        dimensions: Length of the vectors that it reads.
        threshold: Probability from which a word is claimed.
    """

    vocabulary: tuple[str, ...]
    dimensions: int
    threshold: float

    @abstractmethod
    def probabilities(self, vectors: Embeddings) -> Matrix:
        """Return, for each vector, the probability of each word."""

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the words whose probability reaches the threshold."""
        del progress
        scores = self.probabilities(vectors)
        claimed = tuple(
            frozenset(self.vocabulary[column] for column in np.flatnonzero(row >= self.threshold)) for row in scores
        )
        return Recovery(words=claimed, vocabulary=self.vocabulary, scores=scores)

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the probabilities of the true tokens; 0 for a word that it did not learn."""
        del progress
        return known_scores(self.probabilities(sample.vectors), self.vocabulary, sample)
