"""From any of a budget's dials to the literal epsilon, and which epsilons can be used."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import LARGEST_BUDGET, SMALLEST_BUDGET, positive
from vecveil.core.errors import InvalidInputError

ROUNDING = 2.0**-24
"""Relative rounding error of single precision."""

DIGITS = 11
"""Of an epsilon that was searched for: its last bits depend on the machine, and keyed noise depends on every bit."""

LEAST_STEPS = 100
"""Noise must span this many rounding steps along the quietest axis, or coordinates come out bit for bit."""


def require_noise_on_every_axis(epsilon: float, noise_ratio: float, variances: Vector) -> None:
    """Raise if, along the quietest of the released axes, the noise would drown in rounding."""
    released = variances[np.isfinite(variances)]
    quietest = noise_ratio * float(np.sqrt(released.min() / released.mean()))
    if quietest < LEAST_STEPS * ROUNDING:
        raise InvalidInputError(
            f"epsilon {epsilon:g} is too large: along the quietest axis the noise is {quietest:.1g} of the signal, "
            "which is lost in the rounding of single precision, and the axis would be released in clear"
        )


def epsilon_for_noise_ratio(ratio: float | None, noise_ratio: Callable[[float], float]) -> float:
    """Return the epsilon at which `noise_ratio`, a falling function of epsilon, equals `ratio`.

    Bisection on the logarithm: it serves any mechanism, and only some of them have a closed form.
    """
    wanted = positive(ratio, "noise ratio")
    low, high = math.log(SMALLEST_BUDGET), math.log(LARGEST_BUDGET)
    if not noise_ratio(math.exp(high)) < wanted < noise_ratio(math.exp(low)):
        raise InvalidInputError(f"no epsilon gives a noise ratio of {wanted!r}")
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if noise_ratio(math.exp(middle)) > wanted else (low, middle)
    return float(f"{math.exp((low + high) / 2):.{DIGITS}g}")
