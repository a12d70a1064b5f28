"""The share of nearest neighbours that survive: a utility that needs no labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least, embeddings
from vecveil.core.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class NeighboursKept:
    """For each row as a query, how many of its k nearest other rows by cosine stay among the nearest.

    Attributes:
        neighbours: k.
        queries: Most rows used as queries, taken evenly; all where there are fewer.
    """

    neighbours: int = 10
    queries: int = 2000

    def __post_init__(self) -> None:
        at_least(self.neighbours, 1, "neighbours")
        at_least(self.queries, 1, "queries")

    def score(self, clean: Embeddings, documents: Embeddings, *, queries: Embeddings | None = None) -> float:
        """Return the share kept, from 0 to 1.

        Args:
            clean: The vectors as they were.
            documents: The same rows, protected: what is searched.
            queries: What is searched with: the protected rows where None (both sides noised), or `clean` where the
                owner searches with unprotected queries.
        """
        truth = embeddings(clean)
        searched = embeddings(documents, dimensions=truth.shape[1])
        asked = searched if queries is None else embeddings(queries, dimensions=truth.shape[1])
        if not truth.shape == searched.shape == asked.shape:
            raise InvalidInputError(f"rows must match, got {truth.shape[0]}, {searched.shape[0]} and {asked.shape[0]}")
        if truth.shape[0] <= self.neighbours:
            raise InvalidInputError(f"{self.neighbours} neighbours need more rows than that, got {truth.shape[0]}")
        rows = np.unique(np.linspace(0, truth.shape[0] - 1, min(self.queries, truth.shape[0])).astype(int))
        before, after = self._nearest(truth, truth, rows), self._nearest(searched, asked, rows)
        kept = [np.intersect1d(one, other).size for one, other in zip(before, after, strict=True)]
        return float(np.mean(kept) / self.neighbours)

    def _nearest(self, documents: Embeddings, queries: Embeddings, rows: NDArray[np.int_]) -> NDArray[np.int_]:
        lengths = np.linalg.norm(documents, axis=1)
        found = []
        for part in np.array_split(rows, max(1, rows.size // 512)):
            # The query's own length changes no ranking.
            similarity = queries[part] @ documents.T / lengths
            similarity[np.arange(part.size), part] = -np.inf
            found.append(np.argpartition(-similarity, self.neighbours, axis=1)[:, : self.neighbours])
        return np.concatenate(found)
