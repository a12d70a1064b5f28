"""Exact bounds on two chances from counts (Clopper and Pearson)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Vector

Counts = NDArray[np.integer[Any]] | int

SMALLEST_LEVEL = 1e-300
"""No p-value below this is told from any other."""


def at_least(hits: Counts, trials: int, level: float) -> Vector:
    """Return a bound that lies above the chance of a hit with probability `level` at most."""
    from scipy.special import betaincinv

    some = np.maximum(hits, 1)
    return np.where(np.asarray(hits) > 0, betaincinv(some, trials - some + 1, level), 0.0)


def at_most(hits: Counts, trials: int, level: float) -> Vector:
    """Return a bound that lies below the chance of a hit with probability `level` at most."""
    # A hit of the one is a miss of the other, which keeps the digits of a small level.
    return 1 - at_least(trials - np.asarray(hits), trials, level)


def excess(hits: Counts, others: Counts, trials: int, *, factor: float, level: float) -> Vector:
    """Return a bound that lies above p - factor * q with probability `level` at most.

    Args:
        hits: How often the event came in `trials` trials of chance p.
        others: How often in as many trials of chance q.
        trials: The number of trials of each.
        factor: What q is multiplied by.
        level: Chance that the bound is wrong, half of it for p and half for q.
    """
    return at_least(hits, trials, level / 2) - factor * at_most(others, trials, level / 2)


def excess_pvalue(hits: int, others: int, trials: int, *, factor: float, allowed: float) -> float:
    """Return the smallest level at which the counts prove that p - factor * q is above `allowed`; 1 if none does."""

    def proven(log_level: float) -> bool:
        return bool(excess(hits, others, trials, factor=factor, level=math.exp(log_level)) > allowed)

    low, high = math.log(SMALLEST_LEVEL), 0.0
    if not proven(high):
        return 1.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if proven(middle) else (middle, high)
    return math.exp(high)
