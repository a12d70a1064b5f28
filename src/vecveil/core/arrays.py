"""The array types that signatures speak of."""

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
