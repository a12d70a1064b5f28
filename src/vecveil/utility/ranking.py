"""The nearest documents of many queries, in blocks, so that memory doesn't grow with the corpus."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings

QUERIES, DOCUMENTS = 256, 16_384
"""Rows that are compared at once: about a hundred megabytes with all that is made from them."""

NONE = -1
"""Stands for no document where a query has none of its own."""


def nearest(
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
    rows, similarities = [], []
    for start in range(0, queries.shape[0], QUERIES):
        block = slice(start, start + QUERIES)
        found = _nearest(queries[block], documents, lengths, count, None if own is None else own[block])
        rows.append(found[0])
        similarities.append(found[1])
    return np.concatenate(rows), np.concatenate(similarities)


def _nearest(
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
