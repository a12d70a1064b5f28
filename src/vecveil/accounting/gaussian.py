"""Gaussian noise for (epsilon, delta)-differential privacy, calibrated exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecveil.core.arrays import Matrix
from vecveil.core.checks import fraction, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import KEY_BYTES, FreshRows

MOST = 100.0
"""An epsilon beyond this promises nothing, and overflows."""


@dataclass(frozen=True, kw_only=True)
class GaussianLoss:
    """The privacy loss of a statistic of many texts that is released once, with Gaussian noise.

    Whichever one text is replaced by another, the probability of any set of outputs changes by a factor of at most
    exp(epsilon), and by at most delta beside.

    Attributes:
        epsilon: Privacy loss in nats.
        delta: Probability with which it may be exceeded.
    """

    epsilon: float = 1.0
    delta: float = 1e-6

    def __post_init__(self) -> None:
        if positive(self.epsilon, "epsilon") > MOST:
            raise InvalidInputError(f"epsilon must be at most {MOST:g} here, got {self.epsilon!r}")
        fraction(self.delta, "delta")

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta:g})-differential privacy for replacing one text by another"

    @cached_property
    def multiplier(self) -> float:
        """The smallest standard deviation of the noise, over how far one text can move the statistic."""
        low, high = 0.0, 1.0
        while exact_delta(high, self.epsilon) > self.delta:
            low, high = high, 2 * high
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if exact_delta(middle, self.epsilon) > self.delta else (low, middle)
        return high

    def deviation(self, sensitivity: float) -> float:
        """Return the standard deviation of the noise on a statistic that one text can move that far (Euclidean)."""
        return self.multiplier * sensitivity

    def draw(self, rng: np.random.Generator, rows: int, columns: int, *, sensitivity: float) -> Matrix:
        """Return the noise on a statistic, from a cipher under a key that is secret if the generator's state is."""
        return self.deviation(sensitivity) * FreshRows(rows, key=rng.bytes(KEY_BYTES)).normals(columns)


def exact_delta(multiplier: float, epsilon: float) -> float:
    """Return the delta of Gaussian noise at an epsilon (Balle and Wang, 2018, theorem 8)."""
    half, tilt = 1 / (2 * multiplier), epsilon * multiplier
    return _normal_tail(tilt - half) - math.exp(epsilon) * _normal_tail(tilt + half)


def _normal_tail(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2
