"""Reference vectors of texts without the concept, to measure search by."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, spread_rows
from vecveil.core.search_quality import SearchQuality
from vecveil.shapes.evidence import Evidence

SEARCHED = 1500
"""Texts with the concept, and as many without it, in which search is measured at most."""


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
