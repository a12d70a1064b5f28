"""From any of a budget's dials to the literal epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable

from vecveil.core.checks import LARGEST_BUDGET, SMALLEST_BUDGET, positive
from vecveil.core.errors import InvalidInputError


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
    return math.exp((low + high) / 2)
