"""A trained MLC: vectors in, the probability of each sensitive word out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks.word_classifier import WordClassifier
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.checks import embeddings

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedMlc(WordClassifier):
    """A trained classifier.

    Attributes:
        network: Vectors to one logit per word of the vocabulary.
    """

    network: torch.nn.Module

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
