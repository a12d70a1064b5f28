"""What every law of the loss must do.

The loss of a release y is the log of how much likelier y is under its own input than under the other. For the
mechanisms here it lies between minus and plus the worst case, epsilon times the distance. Laws speak of its shortfall,
worst case minus loss: where the worst case is a million nats the losses that matter may differ in the last digits,
their shortfalls don't.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from vecveil.core.arrays import Vector

ORDER = 24
"""Points between two landmarks: more change nothing in the first 12 digits."""

DROPS: Vector = 2 * np.arange(1, 20, dtype=np.float64) ** 2
"""By how much, in nats, the log of a density has dropped at each landmark: dense at the peak, down to 10^-313."""

BULK_DROP = 72.0
"""Where the log of a density has dropped by this much, nothing is left to speak of."""

NOWHERE = np.empty(0)


@dataclass(frozen=True, kw_only=True, eq=False)
class LossPoints:
    """A law made of points, that gives smooth functions of the loss the same mean.

    Attributes:
        shortfalls: How far the loss of each point falls short of the worst case.
        probabilities: What each point weighs.
    """

    shortfalls: Vector
    probabilities: Vector


class LossLaw(Protocol):
    """The law of the loss of one release, for two inputs at a given distance."""

    @property
    def worst_case(self) -> float:
        """Largest loss, in nats."""
        ...

    @property
    def landmarks(self) -> Vector:
        """Shortfalls in ascending order, from 0 to twice the worst case; the law is smooth between neighbours."""
        ...

    @property
    def bulk(self) -> tuple[float, float]:
        """Two shortfalls with all but about e^-72 of the probability between them."""
        ...

    def points(self, borders: Vector, *, order: int = ORDER) -> LossPoints:
        """Return points between the first and the last of `borders`.

        Args:
            borders: Shortfalls in ascending order. What is averaged must be smooth between neighbours; it may have
                kinks at a border.
            order: Number of points between two borders.
        """
        ...


def borders_between(law: LossLaw, low: float, high: float, further: Vector = NOWHERE) -> Vector:
    """Return `low`, `high`, and what lies between them of `further` and of the law's landmarks, in ascending order."""
    wanted = np.concatenate([[low, high], further, law.landmarks])
    return np.unique(wanted[(wanted >= low) & (wanted <= high)])


@cache
def legendre(order: int) -> tuple[Vector, Vector]:
    """Return the Gauss–Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(order)


def panels(borders: Vector, order: int) -> tuple[Vector, Vector]:
    """Return the nodes and weights of Gauss–Legendre quadrature between neighbouring `borders`, in one row each."""
    nodes, weights = legendre(order)
    half = np.diff(borders)[:, np.newaxis] / 2
    return (borders[:-1, np.newaxis] + half * (1 + nodes)).ravel(), (half * weights).ravel()
