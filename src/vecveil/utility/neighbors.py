"""Nearest neighbors, and the share of them that protection keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Vector, spread_rows
from vecveil.core.checks import at_least, embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.utility.task import Encoder, SidedTask, TaskScores, is_protected, standard_error

DEFAULT_NEIGHBORS = 10

QUERIES, DOCUMENTS = 256, 16_384
"""Rows that are compared at once, in about a hundred megabytes: memory must not grow with the corpus."""

NONE = -1
"""Stands for no document, where a query is none of them."""


@dataclass(frozen=True, kw_only=True)
class Neighbors(SidedTask):
    """Of each text's nearest other texts by cosine, the share that is still found. It needs no labels.

    Where both sides are protected, one release of each text serves as document and as query, as in a store that is
    searched for the neighbors of its own records.

    Attributes:
        texts: The corpus.
        neighbors: Nearest texts that are looked for.
        queries: Most texts used as queries, taken evenly; all where there are fewer.
    """

    texts: tuple[str, ...] = field(repr=False)
    neighbors: int = DEFAULT_NEIGHBORS
    queries: int = 2000

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self.neighbors, 1, "neighbors")
        at_least(self.queries, 1, "queries")
        if len(self.texts) <= self.neighbors:
            raise InvalidInputError(f"{self.neighbors} neighbors need more texts than that, got {len(self.texts)}")

    @property
    def name(self) -> str:
        """The name of the task, with the number of neighbors where it is not the default."""
        return "neighbors" if self.neighbors == DEFAULT_NEIGHBORS else f"neighbors@{self.neighbors}"

    def score(self, encoder: Encoder) -> TaskScores:
        """Return the share of neighbors kept; a random order keeps about `neighbors` over the number of texts."""
        clean, released = encoder.embed_clean(self.texts), encoder.embed_released(self.texts)
        kept = shares_kept(
            clean,
            released if is_protected("document", self.protected) else clean,
            released if is_protected("query", self.protected) else clean,
            neighbors=self.neighbors,
            most_queries=self.queries,
        )
        cases = min(self.queries, len(self.texts))
        return TaskScores(
            main="neighbors_kept",
            scores={"neighbors_kept": float(kept.mean())},
            protected=self.protected,
            cases=cases,
            error=standard_error(kept),
        )


def shares_kept(
    clean: Embeddings,
    documents: Embeddings,
    queries: Embeddings,
    *,
    neighbors: int = DEFAULT_NEIGHBORS,
    most_queries: int | None = None,
) -> Vector:
    """Return, for each row, the share of its nearest other rows that stay among the nearest, from 0 to 1.

    Args:
        clean: The vectors as they were.
        documents: The same rows as they are searched, protected or not.
        queries: The same rows as they search, protected or not.
        neighbors: Number of nearest rows.
        most_queries: Most rows that are looked at, taken evenly; None for all.
    """
    truth = embeddings(clean)
    searched, asked = (embeddings(vectors, dimensions=truth.shape[1]) for vectors in (documents, queries))
    if not truth.shape == searched.shape == asked.shape:
        raise InvalidInputError(f"rows must match, got {truth.shape[0]}, {searched.shape[0]} and {asked.shape[0]}")
    if truth.shape[0] <= neighbors:
        raise InvalidInputError(f"{neighbors} neighbors need more rows than that, got {truth.shape[0]}")
    rows = spread_rows(truth.shape[0], most_queries)
    before, _ = find_nearest(truth[rows], truth, neighbors, own=rows)
    after, _ = find_nearest(asked[rows], searched, neighbors, own=rows)
    kept = [np.intersect1d(one, other).size for one, other in zip(before, after, strict=True)]
    return np.array(kept) / neighbors


def find_nearest(
    queries: Embeddings, documents: Embeddings, count: int, *, own: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], Embeddings]:
    """Return the rows of each query's nearest documents by cosine, nearest first, and how near they are.

    Args:
        queries: One row per query.
        documents: One row per document.
        count: Number of documents to find; all where there are fewer.
        own: For each query the row of the document that is the query itself, or NONE. It comes last, at -inf.

    Returns:
        Rows, and cosines times the length of the query, which changes no ranking.
    """
    lengths = np.linalg.norm(documents, axis=1)
    blocks = [slice(start, start + QUERIES) for start in range(0, queries.shape[0], QUERIES)]
    found = [
        _search_block(queries[block], documents, lengths, count, None if own is None else own[block])
        for block in blocks
    ]
    rows, similarities = zip(*found, strict=True)
    return np.concatenate(rows), np.concatenate(similarities)


def rank_candidates(queries: Embeddings, documents: Embeddings, candidates: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the candidates of each query in the order of their cosines: what an owner does who has clean vectors.

    Args:
        queries: One row per query.
        documents: One row per document.
        candidates: For each query, rows of documents.
    """
    lengths = np.linalg.norm(documents, axis=1)
    ordered = np.empty_like(candidates)
    for row, (query, found) in enumerate(zip(queries, candidates, strict=True)):
        ordered[row] = found[np.argsort(-(documents[found] @ query) / lengths[found], kind="stable")]
    return ordered


def _search_block(
    queries: Embeddings,
    documents: Embeddings,
    lengths: NDArray[np.floating[Any]],
    count: int,
    own: NDArray[np.intp] | None,
) -> tuple[NDArray[np.intp], Embeddings]:
    best = np.empty((queries.shape[0], 0), dtype=np.result_type(queries, documents))
    rows = np.empty((queries.shape[0], 0), dtype=np.intp)
    for start in range(0, documents.shape[0], DOCUMENTS):
        stop = min(start + DOCUMENTS, documents.shape[0])
        similarity = queries @ documents[start:stop].T / lengths[start:stop]
        if own is not None:
            here = np.flatnonzero((own >= start) & (own < stop))
            similarity[here, own[here] - start] = -np.inf
        best = np.concatenate([best, similarity], axis=1)
        rows = np.concatenate([rows, np.tile(np.arange(start, stop), (queries.shape[0], 1))], axis=1)
        if best.shape[1] > count:
            kept = np.argpartition(-best, count - 1, axis=1)[:, :count]
            best, rows = np.take_along_axis(best, kept, axis=1), np.take_along_axis(rows, kept, axis=1)
    order = np.argsort(-best, axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(best, order, axis=1)
