"""From any of a budget's dials to the literal epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable

from vecveil.core.checks import positive
from vecveil.core.errors import InvalidInputError


def epsilon_for_noise_ratio(ratio: float, noise_ratio: Callable[[float], float]) -> float:
    """Return the epsilon at which `noise_ratio`, a falling function of epsilon, equals `ratio`.

    Bisection on the logarithm: it serves any mechanism, and only some of them have a closed form.
    """
    positive(ratio, "noise ratio")
    low, high = math.log(1e-9), math.log(1e12)
    if not noise_ratio(math.exp(high)) < ratio < noise_ratio(math.exp(low)):
        raise InvalidInputError(f"no epsilon gives a noise ratio of {ratio!r}")
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if noise_ratio(math.exp(middle)) > ratio else (low, middle)
    return math.exp((low + high) / 2)
