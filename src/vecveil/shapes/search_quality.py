"""Quality of a search against vectors without the concept; no labels needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, spread_rows
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.evidence import Evidence

NEIGHBORS = 10
"""Rows that a search returns."""

SEARCHED = 1500
"""Texts with the concept, and as many without it, in which search is measured at most."""

BLOCK_ROWS = 256
"""Queries that are answered together."""


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
        self._directions, self._neighbors = _directions(reference), neighbors

    def __call__(self, searched: Embeddings) -> float:
        """Return it for the same rows as they are searched; each is a query, and all others are the documents."""
        if searched.shape[0] != len(self._near):
            raise InvalidInputError(
                f"a search needs the same rows on both sides, got {len(self._near)} and {searched.shape[0]}"
            )
        reached = self._mean_nearness(_directions(searched))
        return (reached - self._usual) / (self._best - self._usual) if self._best > self._usual else 1.0

    @cached_property
    def _near(self) -> Matrix:
        return np.asarray(self._directions @ self._directions.T)

    @cached_property
    def _best(self) -> float:
        return self._mean_nearness(self._directions)

    @cached_property
    def _usual(self) -> float:
        rows = len(self._near)
        own = float(np.trace(self._near, dtype=np.float64))
        return (float(self._near.sum(dtype=np.float64)) - own) / (rows * (rows - 1))

    def _mean_nearness(self, directions: Embeddings) -> float:
        sums = np.empty(len(self._near))
        for start in range(0, len(sums), BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, len(sums)))
            similar = directions[rows] @ directions.T
            # No row finds itself.
            similar[np.arange(len(similar)), np.arange(rows.start, rows.stop)] = -np.inf
            found = np.argpartition(similar, -self._neighbors, axis=1)[:, -self._neighbors :]
            sums[rows] = np.take_along_axis(self._near[rows], found, axis=1).sum(axis=1, dtype=np.float64)
        return float(sums.mean()) / self._neighbors


@dataclass(frozen=True, kw_only=True, eq=False)
class ConceptFreeReference:
    """Texts with the concept and texts that never had it.

    Attributes:
        reference: Their vectors without the concept: what a search should go by.
        vectors: The vectors that they really have.
    """

    reference: Embeddings = field(repr=False)
    vectors: Embeddings = field(repr=False)

    @classmethod
    def from_evidence(cls, evidence: Evidence, *, most: int | None = None) -> ConceptFreeReference:
        """Return the pairs and the texts without the concept; at most `most` of each, taken evenly."""
        pairs, corpus = evidence.pairs, evidence.corpus
        chosen = spread_rows(len(pairs), most)
        plain = np.array([row for row, words in enumerate(corpus.words) if not words], dtype=np.intp)
        others = corpus.vectors[plain[spread_rows(plain.size, most)]]
        without, with_concept = (
            np.asarray(side[chosen], dtype=np.float64) for side in (pairs.without_concept, pairs.with_concept)
        )
        return cls(reference=np.concatenate([without, others]), vectors=np.concatenate([with_concept, others]))

    def covariance(self) -> Matrix:
        """Return the covariance of what texts have, in rows, with what they have without the concept, in columns."""
        real, bare = (np.asarray(side, dtype=np.float64) for side in (self.vectors, self.reference))
        return np.asarray(real.T @ bare / len(real) - np.outer(real.mean(axis=0), bare.mean(axis=0)))

    @cached_property
    def quality(self) -> SearchQuality:
        """Measures how good a search is where other vectors stand for these."""
        return SearchQuality(self.reference)


def _directions(vectors: Embeddings) -> Embeddings:
    values = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1))
