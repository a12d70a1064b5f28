"""Laws of the privacy loss of one release.

The loss of a release y is the log of how much likelier y is under its own input than under the other. For the
mechanisms here it lies between minus and plus the worst case, epsilon times the distance. Laws speak of its shortfall,
worst case minus loss: where the worst case is a million nats the losses that matter may differ in the last digits,
their shortfalls don't.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import not_negative, positive

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

    @property
    def landmarks(self) -> Vector:
        """Shortfalls in ascending order, from 0 to twice the worst case; the law is smooth between neighbors."""

    @property
    def bulk(self) -> tuple[float, float]:
        """Two shortfalls with all but about e^-72 of the probability between them."""

    def points(self, borders: Vector, *, order: int = ORDER) -> LossPoints:
        """Return points between the first and the last of `borders`.

        Args:
            borders: Shortfalls in ascending order. What is averaged must be smooth between neighbors; it may have
                kinks at a border.
            order: Number of points between two borders.
        """


def borders_between(law: LossLaw, low: float, high: float, further: Vector = NOWHERE) -> Vector:
    """Return `low`, `high`, and what lies between them of `further` and of the law's landmarks, in ascending order."""
    wanted = np.concatenate([[low, high], further, law.landmarks])
    return np.unique(wanted[(wanted >= low) & (wanted <= high)])


@cache
def legendre(order: int) -> tuple[Vector, Vector]:
    """Return the Gauss–Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(order)


def panels(borders: Vector, order: int) -> tuple[Vector, Vector]:
    """Return the nodes and weights of Gauss–Legendre quadrature between neighboring `borders`, in one row each."""
    nodes, weights = legendre(order)
    half = np.diff(borders)[:, np.newaxis] / 2
    return (borders[:-1, np.newaxis] + half * (1 + nodes)).ravel(), (half * weights).ravel()


@dataclass(frozen=True, kw_only=True)
class LineLaw:
    """A loss that is often exactly the worst case, seldom minus that, and has density level·exp(-shortfall/2) between.

    Attributes:
        worst_case: Largest loss, in nats.
        atom: Probability of losing exactly that: the output lies behind its input, seen from the other.
        level: Density at a shortfall of zero.
    """

    worst_case: float
    atom: float
    level: float

    def __post_init__(self) -> None:
        not_negative(self.worst_case, "worst_case")
        not_negative(self.atom, "atom")
        not_negative(self.level, "level")

    @cached_property
    def landmarks(self) -> Vector:
        """Shortfalls between which one panel integrates the density."""
        return np.unique(np.minimum(np.concatenate([[0.0], 2 * DROPS, [np.inf]]), 2 * self.worst_case))

    @property
    def bulk(self) -> tuple[float, float]:
        """Two shortfalls with all but about e^-72 of the probability between them."""
        return 0.0, min(2 * BULK_DROP, 2 * self.worst_case)

    def points(self, borders: Vector, *, order: int = ORDER) -> LossPoints:
        """Return points between the first and the last of `borders`, with the ends of the line where they are in."""
        shortfalls, widths = panels(borders, order)
        ends = np.array([0.0, 2 * self.worst_case])
        atoms = self.atom * np.exp(-ends / 2)
        inside = (borders[0] <= ends) & (ends <= borders[-1])
        return LossPoints(
            shortfalls=np.concatenate([shortfalls, ends[inside]]),
            probabilities=np.concatenate([widths * self.level * np.exp(-shortfalls / 2), atoms[inside]]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SpheroidalLaw:
    """A loss of worst_case·cos(bearing), with the bearing between 0 and π.

    With r and r′ the distances of an output from the two inputs, the loss is epsilon·(r′ - r), and the density of an
    output depends on r alone. In the coordinates r′ - r and r′ + r (spheroidal ones in space, their like on the sphere)
    volume is a sum of two products, so that r′ + r can be integrated away once and for all.

    At a bearing of 0 the output lies behind its own input as seen from the other, at π behind the other.

    Attributes:
        worst_case: Largest loss, in nats.
        log_weight: Log of the density of the bearing, up to a constant; the density has one peak.
    """

    worst_case: float
    log_weight: Callable[[Vector], Vector]

    def __post_init__(self) -> None:
        positive(self.worst_case, "worst_case")

    @cached_property
    def landmarks(self) -> Vector:
        """Shortfalls between which one panel integrates the density."""
        landmarks = self._shortfalls(self._borders)
        landmarks[[0, -1]] = 0.0, 2 * self.worst_case
        return landmarks

    @cached_property
    def bulk(self) -> tuple[float, float]:
        """Two shortfalls with all but about e^-72 of the probability between them."""
        before, after = (self._find_drops(np.array([BULK_DROP]), end) for end in (0.0, math.pi))
        return float(self._shortfalls(before)[0]), float(self._shortfalls(after)[0])

    def points(self, borders: Vector, *, order: int = ORDER) -> LossPoints:
        """Return points between the first and the last of `borders`."""
        parts = np.sqrt(np.clip(borders / (2 * self.worst_case), 0.0, 1.0))
        bearings, widths = panels(2 * np.arcsin(parts), order)
        return LossPoints(
            shortfalls=self._shortfalls(bearings),
            probabilities=widths * np.exp(self.log_weight(bearings) - self._log_total),
        )

    def mean(self, function: Callable[[Vector], Vector]) -> float:
        """Return the mean of a smooth function of the bearing."""
        bearings, widths = panels(self._borders, ORDER)
        return float(widths @ (function(bearings) * np.exp(self.log_weight(bearings) - self._log_total)))

    def _shortfalls(self, bearings: Vector) -> Vector:
        return np.asarray(2 * self.worst_case * np.sin(bearings / 2) ** 2)

    @cached_property
    def _borders(self) -> Vector:
        """Bearings between which the density is smooth: denser at the peak, and at the ends of the interval."""
        ends = math.pi / 2 ** np.arange(1.0, 14.0)
        dropped = [self._find_drops(DROPS, end) for end in (0.0, math.pi)]
        return np.unique(np.concatenate([[0.0, self._peak, math.pi], ends, math.pi - ends, *dropped]))

    @cached_property
    def _peak(self) -> float:
        """The likeliest bearing: the best of a grid, then of finer and finer grids around it."""
        # Where the worst case is large the peak is near 0, hence the logarithmic part.
        grid = np.unique(np.concatenate([np.geomspace(1e-14, 1.0, 300), np.linspace(0.01, math.pi - 1e-9, 300)]))
        for _ in range(8):
            best = int(np.argmax(self.log_weight(grid)))
            peak = float(grid[best])
            grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], 40)
        return peak

    @cached_property
    def _highest(self) -> float:
        return float(self.log_weight(np.array([self._peak]))[0])

    @cached_property
    def _log_total(self) -> float:
        bearings, widths = panels(self._borders, ORDER)
        return self._highest + math.log(float(widths @ np.exp(self.log_weight(bearings) - self._highest)))

    def _find_drops(self, drops: Vector, end: float) -> Vector:
        """Return the bearings from the peak to `end` where the log density has dropped by `drops`, or `end` itself."""
        near, far = np.full(drops.size, self._peak), np.full(drops.size, end)
        for _ in range(50):
            middle = (near + far) / 2
            high = self.log_weight(middle) > self._highest - drops
            near, far = np.where(high, middle, near), np.where(high, far, middle)
        return far
