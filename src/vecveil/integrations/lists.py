"""Vectors as lists of Python's own numbers, which most libraries hand on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_lists(rows: NDArray[Any]) -> list[list[float]]:
    """Return each row as a list of floats, whatever grid it was rounded to."""
    found: list[list[float]] = rows.astype(np.float64).tolist()
    return found
