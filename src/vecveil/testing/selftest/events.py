"""Events that may tell two inputs apart, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix
from vecveil.testing.selftest.binomials import at_least, at_most

CHOICE_LEVEL = 1e-9
"""Level at which events are compared with one another. It decides which event is counted, not whether it counts."""

CHOICES = 1 / (1 + np.exp(-np.linspace(-8, 8, 129)))
"""Quantiles that an event may begin at: dense at both ends."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Events:
    """Events "this statistic is above that threshold", and what the half that chooses knows of their chances.

    Attributes:
        thresholds: One row per statistic.
        low: Lower bounds on the chance of each event under the one input.
        high: Upper bounds under the other.
    """

    thresholds: Matrix
    low: Matrix
    high: Matrix

    @classmethod
    def among(cls, ours: Matrix, theirs: Matrix) -> Events:
        """Return the events for statistics of releases of the one input and of the other, one row each."""
        # "Lower" keeps to values that were seen: between two of them there is nothing to tell them apart by.
        both = np.concatenate([ours, theirs], axis=1)
        thresholds = np.quantile(both, CHOICES, axis=1, method="lower").T
        return cls(
            thresholds=thresholds,
            low=at_least(_above(ours, thresholds), ours.shape[1], CHOICE_LEVEL),
            high=at_most(_above(theirs, thresholds), theirs.shape[1], CHOICE_LEVEL),
        )

    def largest_ratio(self) -> tuple[int, float]:
        """Return statistic and threshold of the event with the largest ratio of chances, as far as is known."""
        return self._best(self.low / self.high)

    def largest_excess(self, factor: float) -> tuple[int, float]:
        """Return those of the event with the largest p - factor * q."""
        return self._best(self.low - factor * self.high)

    def _best(self, scores: Matrix) -> tuple[int, float]:
        statistic, place = np.unravel_index(int(np.argmax(scores)), scores.shape)
        return int(statistic), float(self.thresholds[statistic, place])


def _above(values: Matrix, thresholds: Matrix) -> NDArray[np.intp]:
    """Return, for each statistic and threshold, how many values lie above."""
    pairs = zip(np.sort(values, axis=1), thresholds, strict=True)
    return np.stack([ordered.size - np.searchsorted(ordered, limits, side="right") for ordered, limits in pairs])
