"""Quality of a search against reference vectors, without labels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.errors import InvalidInputError

NEIGHBORS = 10
"""Rows that a search returns."""

BLOCK_ROWS = 256
"""Queries that are answered together."""

Similarities = Callable[[slice], NDArray[np.floating[Any]]]
"""Returns, for some rows as queries, a number for every row: the nearer, the larger. It is overwritten."""


class SearchQuality:
    """Says how near, by cosine in the reference, the rows are that a search in other vectors finds.

    1 means as near as the nearest rows there are, 0 no nearer than any row. It asks less than that the very same rows
    are found: another text that is as near serves as well.

    Args:
        reference: Vectors that say how near texts are, such as those of the texts without the concept.
        neighbors: Rows that a search returns.
    """

    def __init__(self, reference: Embeddings, *, neighbors: int = NEIGHBORS) -> None:
        if reference.shape[0] <= neighbors + 1:
            raise InvalidInputError(
                f"a search for {neighbors} neighbors needs more rows than that, got {reference.shape[0]}"
            )
        self._directions = _directions(reference)
        self._neighbors = neighbors

    def __call__(self, searched: Embeddings) -> float:
        """Return it for the same rows as they are searched; each is a query, and all others are the documents."""
        if searched.shape[0] != len(self._near):
            raise InvalidInputError(
                f"a search needs the same rows on both sides, got {len(self._near)} and {searched.shape[0]}"
            )
        directions = _directions(searched)
        return self.by(lambda rows: directions[rows] @ directions.T)

    def by(self, similarities: Similarities) -> float:
        """Return it for a search that goes by numbers of its own."""
        reached = self._mean_nearness(similarities)
        return (reached - self._usual) / (self._best - self._usual) if self._best > self._usual else 1.0

    @cached_property
    def _near(self) -> Matrix:
        return np.asarray(self._directions @ self._directions.T)

    @cached_property
    def _best(self) -> float:
        return self._mean_nearness(lambda rows: self._near[rows].copy())

    @cached_property
    def _usual(self) -> float:
        rows = len(self._near)
        own = float(np.trace(self._near, dtype=np.float64))
        return (float(self._near.sum(dtype=np.float64)) - own) / (rows * (rows - 1))

    def _mean_nearness(self, similarities: Similarities) -> float:
        sums = np.empty(len(self._near))

        for start in range(0, len(sums), BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, len(sums)))
            similar = similarities(rows)
            # No row finds itself.
            similar[np.arange(len(similar)), np.arange(rows.start, rows.stop)] = -np.inf
            found = np.argpartition(similar, -self._neighbors, axis=1)[:, -self._neighbors :]
            sums[rows] = np.take_along_axis(self._near[rows], found, axis=1).sum(axis=1, dtype=np.float64)
        return float(sums.mean()) / self._neighbors


def search_quality(reference: Embeddings, searched: Embeddings, *, neighbors: int = NEIGHBORS) -> float:
    """Return how near, by cosine in `reference`, the rows are that a search in `searched` finds."""
    return SearchQuality(reference, neighbors=neighbors)(searched)


def _directions(vectors: Embeddings) -> Embeddings:
    values = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1))
