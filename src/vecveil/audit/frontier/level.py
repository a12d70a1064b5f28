"""The noise that a shape can bear at a level of utility."""

from __future__ import annotations

import numpy as np

from vecveil.audit.frontier.contender import at_noise
from vecveil.audit.frontier.yardstick import Utility
from vecveil.veil.fitting import Fitted

LEAST, MOST = 0.1, 8.0
"""Noise ratios between which it is searched. Below the least there is no promise worth the name."""

STEPS = 7
"""Halvings of the interval, on the logarithm: the noise is found to within 4 %."""


def noise_at(level: float, fitted: Fitted, utility: Utility, *, signal: float, seed: int) -> float | None:
    """Return the largest noise ratio at which `level` of the utility is kept; None where the least is too much.

    Every try has the same noise but for its length, so that what is kept falls with it.
    """

    def kept(ratio: float) -> float:
        return utility.kept(at_noise(fitted, ratio, signal), np.random.default_rng(seed))

    if kept(LEAST) < level:
        return None
    low, high = np.log(LEAST), np.log(MOST)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(float(np.exp(middle))) >= level else (low, middle)
    return float(np.exp(low))
