"""The loss in the coordinates that have the two inputs as foci: two integrals become one.

With r and r′ the distances of an output from the two inputs, the loss is epsilon·(r′ - r), and the density of an output
depends on r alone. In the coordinates r′ - r and r′ + r (spheroidal ones in space, their like on the sphere) volume is
a sum of two products, so that r′ + r can be integrated away once and for all. What stays is one law on one interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecveil.accounting.profile.law import BULK_DROP, DROPS, ORDER, LossPoints, panels
from vecveil.core.arrays import Vector
from vecveil.core.checks import positive


@dataclass(frozen=True, kw_only=True, eq=False)
class SpheroidalLaw:
    """A loss of worst_case·cos(bearing), with the bearing between 0 and π.

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
        before, after = (self._dropped(np.array([BULK_DROP]), end) for end in (0.0, math.pi))
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
        dropped = [self._dropped(DROPS, end) for end in (0.0, math.pi)]
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

    def _dropped(self, drops: Vector, end: float) -> Vector:
        """Return the bearings from the peak to `end` where the log density has dropped by `drops`, or `end` itself."""
        near, far = np.full(drops.size, self._peak), np.full(drops.size, end)
        for _ in range(50):
            middle = (near + far) / 2
            high = self.log_weight(middle) > self._highest - drops
            near, far = np.where(high, middle, near), np.where(high, far, middle)
        return far
