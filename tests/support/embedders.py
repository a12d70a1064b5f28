"""An embedder that needs no model: the same words give the same vector, everywhere and at once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.embedders import Fingerprint

DIMENSIONS = 8


@dataclass(frozen=True, kw_only=True)
class WordEmbedder:
    """Adds up one direction per word and brings the sum to length one.

    Attributes:
        revision: Tells two embedders of one name apart.
        dtype: Type of the numbers it returns.
        spoilt: A word whose texts get NaN for a vector.
        asked: Every text it was given, in order.
    """

    revision: str = "1"
    dtype: str = "float32"
    spoilt: str = ""
    asked: list[str] = field(default_factory=list)

    @property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(model="words", revision=self.revision, dimensions=DIMENSIONS, normalized=True)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        self.asked.extend(texts)
        rows = [np.sum([_direction(word) for word in text.split()], axis=0) for text in texts]
        vectors = np.asarray(rows, dtype=np.float64).reshape(len(texts), DIMENSIONS)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for row, text in enumerate(texts):
            if self.spoilt and self.spoilt in text:
                vectors[row] = np.nan
        return vectors.astype(self.dtype)


def _direction(word: str) -> Embeddings:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSIONS)
