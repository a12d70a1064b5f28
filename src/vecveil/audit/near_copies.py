"""Texts that are near copies of each other: who knows one of them knows the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import fraction

BLOCK = 2048


def near_groups(vectors: Embeddings, cosine: float) -> NDArray[np.intp]:
    """Return the number of each row's group: rows are in one group where steps of at least `cosine` join them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    fraction(cosine, "near_copies")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions = np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
    rows = directions.shape[0]
    joined: list[tuple[NDArray[Any], NDArray[Any]]] = []
    for start in range(0, rows, BLOCK):
        first, second = np.nonzero(directions[start : start + BLOCK] @ directions.T >= cosine)
        joined.append((first + start, second))
    firsts, seconds = (np.concatenate(side) for side in zip(*joined, strict=True))
    links = coo_array((np.ones(firsts.size, dtype=np.int8), (firsts, seconds)), shape=(rows, rows))
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels, dtype=np.intp)
