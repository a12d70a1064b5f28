"""Array types, and small conversions of arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
"""One number per dimension, or one per row."""

Matrix: TypeAlias = NDArray[np.float64]
"""A square or tall array of numbers that is not a set of embeddings."""

Embeddings: TypeAlias = NDArray[np.floating[Any]]
"""One row per text, one column per dimension; float32 or float64."""


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only float64 copy of `array`, fit to be a field of a frozen value."""
    copy = np.array(array, dtype=np.float64)
    copy.setflags(write=False)
    return copy


def to_unit_length(rows: NDArray[Any]) -> Matrix:
    """Return each row over its length, in double precision; a row of zeros stays one."""
    wide = np.asarray(rows, dtype=np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=-1, keepdims=True), 1e-300))


def to_lists(rows: NDArray[Any]) -> list[list[float]]:
    """Return each row as a list of Python floats, whatever type its numbers have."""
    lists: list[list[float]] = rows.astype(np.float64).tolist()
    return lists


def spread_rows(rows: int, most: int | None = None) -> NDArray[np.intp]:
    """Return the numbers of at most `most` rows, spread evenly from the first to the last; all where None."""
    count = rows if most is None else min(rows, most)
    return np.unique(np.linspace(0, max(rows - 1, 0), count).astype(np.intp))
