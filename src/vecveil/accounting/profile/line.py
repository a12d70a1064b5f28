"""The loss on a line or a circle, where an output lies behind one input, behind the other, or between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecveil.accounting.profile.law import BULK_DROP, DROPS, ORDER, LossPoints, panels
from vecveil.core.arrays import Vector
from vecveil.core.checks import not_negative


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
