"""A trained MLC: vectors in, the probability of each sensitive word out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks.attack import Recovery, Sample
from vecveil.attacks.words import known_scores
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import embeddings
from vecveil.core.progress import Progress, silent

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedMlc:
    """A trained classifier.

    Attributes:
        network: Vectors to one logit per word of the vocabulary.
        vocabulary: The sensitive words of the training texts.
        dimensions: Length of the vectors that it reads.
        threshold: Probability from which a word is claimed.
    """

    network: torch.nn.Module
    vocabulary: tuple[str, ...]
    dimensions: int
    threshold: float

    def recover(self, vectors: Embeddings, *, progress: Progress = silent) -> Recovery:
        """Return the words whose probability reaches the threshold."""
        del progress
        scores = self.probabilities(vectors)
        claimed = tuple(
            frozenset(self.vocabulary[column] for column in np.flatnonzero(row >= self.threshold)) for row in scores
        )
        return Recovery(words=claimed, vocabulary=self.vocabulary, scores=scores)

    def confidence(self, sample: Sample, *, progress: Progress = silent) -> tuple[Vector, ...]:
        """Return the sigmoid outputs of the true tokens; 0 for a word that it did not learn."""
        del progress
        return known_scores(self.probabilities(sample.vectors), self.vocabulary, sample)

    def probabilities(self, vectors: Embeddings) -> Matrix:
        """Return, for each vector, the probability of each word."""
        import torch

        released = embeddings(vectors, dimensions=self.dimensions)
        with torch.no_grad():
            logits: torch.Tensor = self.network(as_tensor(released))
            return np.asarray(logits.sigmoid().double().numpy())


def as_tensor(values: NDArray[Any]) -> torch.Tensor:
    """Return a copy of `values` as the network takes them."""
    import torch

    # Without a copy torch reads no array backwards, and warns of one that can't be written to.
    return torch.from_numpy(np.array(values, dtype=np.float32, order="C"))
