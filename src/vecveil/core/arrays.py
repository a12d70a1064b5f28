"""The array types that signatures speak of."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
"""One number per dimension, or one per row."""

Matrix: TypeAlias = NDArray[np.float64]
"""A square or tall array of numbers that is not a set of embeddings."""

Singles: TypeAlias = NDArray[np.float32]
"""Numbers in single precision, of any shape: what networks learn with."""

Embeddings: TypeAlias = NDArray[np.floating[Any]]
"""One row per text, one column per dimension; float32 or float64."""


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only float64 copy of `array`, fit to be a field of a frozen value."""
    copy = np.array(array, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def in_one_piece(embeddings: Embeddings) -> Embeddings:
    """Return `embeddings` as compiled loops take them: row after row, as float32 or float64."""
    if embeddings.dtype.char in "fd" and embeddings.dtype.isnative and embeddings.flags.c_contiguous:
        return embeddings
    return np.ascontiguousarray(embeddings, dtype=np.float32 if embeddings.dtype.itemsize <= 4 else np.float64)


def evenly(rows: int, most: int | None = None) -> NDArray[np.intp]:
    """Return the numbers of at most `most` of so many rows, spread evenly from the first to the last; None for all."""
    count = rows if most is None else min(rows, most)
    return np.unique(np.linspace(0, max(rows - 1, 0), count).astype(np.intp))
