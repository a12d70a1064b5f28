"""The noise at which a score is just kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

LEAST_NOISE, MOST_NOISE = 0.1, 8.0
"""Noise ratios between which it is searched. Below the least there is no promise worth the name."""

STEPS = 7
"""Halvings of the interval, on the logarithm: the noise is found to within 4 %."""


def find_noise(score: Callable[[float], float], wanted: float) -> float | None:
    """Return the largest noise ratio at which a score is kept; None where the least is too much.

    Args:
        score: Takes a noise ratio to a score, which falls with it.
        wanted: What it must reach.
    """
    if score(LEAST_NOISE) < wanted:
        return None
    low, high = np.log(LEAST_NOISE), np.log(MOST_NOISE)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(float(np.exp(middle))) >= wanted else (low, middle)
    return float(np.exp(low))
