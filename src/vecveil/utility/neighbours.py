"""The share of nearest neighbours that survive: a utility that needs no labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from vecveil.core.arrays import Embeddings, evenly
from vecveil.core.checks import at_least, embeddings, one_of
from vecveil.core.errors import InvalidInputError
from vecveil.utility.ranking import nearest
from vecveil.utility.sides import is_protected
from vecveil.utility.task import Encoder, Protected, TaskScores, task_label

USUAL = 10
"""Neighbours that are looked for unless someone says otherwise."""


@dataclass(frozen=True, kw_only=True)
class NeighboursKept:
    """For each row as a query, how many of its k nearest other rows by cosine stay among the nearest.

    Attributes:
        neighbours: k.
        queries: Most rows used as queries, taken evenly; all where there are fewer.
    """

    neighbours: int = USUAL
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
        rows = evenly(truth.shape[0], self.queries)
        before, _ = nearest(truth[rows], truth, self.neighbours, own=rows)
        after, _ = nearest(asked[rows], searched, self.neighbours, own=rows)
        kept = [np.intersect1d(one, other).size for one, other in zip(before, after, strict=True)]
        return float(np.mean(kept) / self.neighbours)


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """`NeighboursKept` as a task: of each text's nearest other texts, the share that is still found.

    Where both sides are protected, one release of each text serves as document and as query, as in a store that is
    searched for what is like one of its own records.

    Attributes:
        texts: The corpus.
        neighbours: Nearest texts that are looked for.
        queries: Most texts used as queries, taken evenly; all where there are fewer.
        protected: Which side of the search sees protected vectors.
        source: Where the texts are from, for the label.
    """

    texts: tuple[str, ...] = field(repr=False)
    neighbours: int = USUAL
    queries: int = 2000
    protected: Protected = "both"
    source: str = ""

    def __post_init__(self) -> None:
        at_least(self.neighbours, 1, "neighbours")
        at_least(self.queries, 1, "queries")
        one_of(self.protected, get_args(Protected), "protected side")
        if len(self.texts) <= self.neighbours:
            raise InvalidInputError(f"{self.neighbours} neighbours need more texts than that, got {len(self.texts)}")

    @property
    def label(self) -> str:
        """How tables name the task."""
        name = "neighbours" if self.neighbours == USUAL else f"neighbours@{self.neighbours}"
        return task_label(name, source=self.source, protected=self.protected)

    def score(self, encoder: Encoder) -> TaskScores:
        """Return the share of neighbours kept; chance keeps about `neighbours` over the number of texts."""
        clean, released = encoder.clean(self.texts), encoder.released(self.texts)
        measure = NeighboursKept(neighbours=self.neighbours, queries=self.queries)
        kept = measure.score(
            clean,
            released if is_protected("document", self.protected) else clean,
            queries=released if is_protected("query", self.protected) else clean,
        )
        cases = min(self.queries, len(self.texts))
        return TaskScores(
            main="neighbours_kept", scores={"neighbours_kept": kept}, protected=self.protected, cases=cases
        )
