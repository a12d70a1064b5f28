"""How good what a search finds is, by vectors that say how near texts really are: a utility that needs no labels."""

from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.errors import InvalidInputError

NEIGHBOURS = 10
"""Rows that a search returns."""


def search_quality(reference: Embeddings, searched: Embeddings, *, neighbours: int = NEIGHBOURS) -> float:
    """Return how near, by cosine in `reference`, the rows are that a search in `searched` finds.

    1 means as near as the nearest rows there are, 0 no nearer than any row. It asks less than that the very same rows
    are found: another text that is as near serves as well.

    Args:
        reference: Vectors that say how near texts are, such as those of the texts without the concept.
        searched: The same rows as they are searched; each is a query, and all others are the documents.
        neighbours: Rows that a search returns.
    """
    if reference.shape[0] != searched.shape[0] or reference.shape[0] <= neighbours + 1:
        raise InvalidInputError(
            f"a search for {neighbours} neighbours needs more rows than that, the same on both sides, got "
            f"{reference.shape[0]} and {searched.shape[0]}"
        )
    near = _similarities(reference)
    rows = near.shape[0]
    found = np.argpartition(-_similarities(searched), neighbours - 1, axis=1)[:, :neighbours]
    reached = float(np.take_along_axis(near, found, axis=1).mean())
    best = float(-np.partition(-near, neighbours - 1, axis=1)[:, :neighbours].mean())
    np.fill_diagonal(near, 0.0)
    usual = float(near.sum(dtype=np.float64) / (rows * (rows - 1)))
    return (reached - usual) / (best - usual) if best > usual else 1.0


def _similarities(vectors: Embeddings) -> Matrix:
    values = np.asarray(vectors, dtype=np.float32)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    directions = values / np.where(lengths > 0, lengths, 1)
    similar = directions @ directions.T
    # No row finds itself.
    np.fill_diagonal(similar, -np.inf)
    return np.asarray(similar)
