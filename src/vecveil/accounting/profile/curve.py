"""Privacy profiles: the curve of one release, and that of several."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecveil.accounting.profile.laws import ORDER, LossLaw, borders_between
from vecveil.core.arrays import Vector
from vecveil.core.checks import at_least, not_negative
from vecveil.core.errors import needs_extra


class PrivacyProfile(ABC):
    """The exact (epsilon, delta) curve of two inputs at a given distance.

    Metric privacy bounds the loss of every release by the worst case, epsilon times the distance. In high dimension
    nearly every release loses far less, and the curve says so: for any set of outputs, the probability under one input
    is at most exp(epsilon) times that under the other, plus delta(epsilon).
    """

    @property
    @abstractmethod
    def worst_case(self) -> float:
        """Largest loss, in nats."""

    @abstractmethod
    def delta(self, epsilon: float) -> float:
        """Return the smallest delta for which the two outputs are (epsilon, delta)-indistinguishable."""

    @abstractmethod
    def compose(self, releases: int) -> PrivacyProfile:
        """Return the profile of that many releases of the same record, each with fresh noise."""

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon whose delta is at most `delta`; 0 where even that of 0 is.

        It is found by bisection, and rounded up.
        """
        allowed = not_negative(delta, "delta")
        if allowed == 0:
            return self.worst_case
        if self.delta(0.0) <= allowed:
            return 0.0
        low, high = 0.0, self.worst_case
        for _ in range(200):
            if high - low <= 1e-12 * high:
                break
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle) <= allowed else (middle, high)
        return high

    @property
    def advantage(self) -> float:
        """Total variation distance of the two outputs: delta at an epsilon of 0."""
        return self.delta(0.0)

    @property
    def success(self) -> float:
        """How often the best possible guess between two equally likely inputs is right."""
        return (1 + self.advantage) / 2


GRID = 2**18
"""Number of losses that the composed law is spread over, at most; about."""

RESOLUTION = 1e-13
"""Added to every delta, for each release: what rounding in the Fourier transforms leaves is less."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ComposedProfile(PrivacyProfile):
    """An upper bound on the profile of several releases, close to it.

    The law of one loss is spread over a grid so that no attacker gets weaker ("connect the dots": each loss goes to its
    two neighbors on the grid, with the mean of exp(-loss) kept), then composed by dp_accounting. Losses never move up
    by more than a step, so that an ε′ is never too large by more than `rounding`; on average they move up by about
    step²/12.

    Attributes:
        law: The law of the loss of one release.
        releases: Number of releases, each with fresh noise.
        step: Step of the grid, in nats.
        composed_losses: The composed law, a PLDPmf of dp_accounting.
    """

    law: LossLaw
    releases: int
    step: float
    composed_losses: Any

    @classmethod
    def of(cls, law: LossLaw, releases: int) -> ComposedProfile:
        """Return the profile of `releases` releases with the loss `law`."""
        with needs_extra("dp_accounting", "accounting"):
            from dp_accounting.pld.pld_pmf import DensePLDPmf
        low, high = law.bulk
        spread = _deviation(law) * math.sqrt(releases)
        # How wide a sum of k losses is depends on its deviation; it is never wider than k times one loss.
        steps = math.ceil(law.worst_case * GRID / min(releases * (high - low), 2 * (high - low) + 20 * spread))
        step = law.worst_case / steps
        first, last = math.floor(low / step), min(math.ceil(high / step), 2 * steps)
        probabilities, beyond = _on_grid(law, step, first, last)
        # dp_accounting cuts off tails by Chernoff bounds, with 1 to 20 over the length of what it gets as orders; zeros
        # at the upper end bring the order that serves best, 8.4/spread, among them.
        zeros = np.zeros(max(0, math.ceil(spread / 2 / step) - probabilities.size))
        single = DensePLDPmf(step, steps - last, np.concatenate([probabilities[::-1], zeros]), beyond, True)
        return cls(law=law, releases=releases, step=step, composed_losses=single.self_compose(releases))

    @property
    def worst_case(self) -> float:
        """Largest loss, in nats."""
        return self.releases * self.law.worst_case

    @property
    def rounding(self) -> float:
        """By how many nats an epsilon can be too large because of the grid, at most."""
        return self.releases * self.step

    def delta(self, epsilon: float) -> float:
        """Return a delta, hardly too large, for which the outputs are (epsilon, delta)-indistinguishable."""
        gap = self.worst_case - not_negative(epsilon, "epsilon")
        if gap <= 0:
            return 0.0
        # Of all pairs with this worst case, randomized response is told apart most easily.
        hardest = -math.expm1(-gap) / (1 + math.exp(-self.worst_case))
        found = max(0.0, float(self.composed_losses.get_delta_for_epsilon(epsilon)))
        return min(hardest, found + self.releases * RESOLUTION)

    def compose(self, releases: int) -> PrivacyProfile:
        """Return the profile of that many times as many releases."""
        if at_least(releases, 1, "releases") == 1:
            return self
        return ComposedProfile.of(self.law, self.releases * releases)


def _deviation(law: LossLaw) -> float:
    """Return the standard deviation of a loss."""
    points = law.points(law.landmarks)
    # In units of the worst case, whose square may be no number.
    parts = points.shortfalls / law.worst_case
    mean = float(points.probabilities @ parts)
    return law.worst_case * math.sqrt(float(points.probabilities @ (parts - mean) ** 2))


def _on_grid(law: LossLaw, step: float, first: int, last: int) -> tuple[Vector, float]:
    """Return the probabilities of the shortfalls first·step to last·step, and that of losses beyond the first."""
    borders = step * np.arange(first, last + 1, dtype=np.float64)
    # Many cells are all narrow. Few are as wide as the law itself, and need its landmarks and all points.
    few = borders.size < 10_000
    points = law.points(borders_between(law, borders[0], borders[-1], borders), order=ORDER if few else 4)
    cells = np.clip(np.floor(points.shortfalls / step).astype(np.int64), first, last - 1)
    # How much of each loss goes to the upper end of its cell, so that the means of 1 and of exp(-loss) stay.
    upper = np.clip(np.expm1(points.shortfalls - (cells + 1) * step) / math.expm1(-step), 0.0, 1.0)
    probabilities = np.zeros(borders.size)
    for ends, shares in ((cells, upper), (cells + 1, 1 - upper)):
        probabilities += np.bincount(ends - first, weights=points.probabilities * shares, minlength=borders.size)
    beyond = float(law.points(borders_between(law, 0.0, borders[0])).probabilities.sum()) if first > 0 else 0.0
    # Losses below the grid are rounded up to its lowest.
    probabilities[-1] += max(0.0, 1.0 - beyond - float(probabilities.sum()))
    return probabilities, beyond


LAYERS = np.array([0.0, 5.0, 40.0])
"""How far above epsilon, in nats, panels end: 1 - exp(epsilon - loss) rises from 0 to 1 over these."""

LARGEST = 1e15
"""Larger losses, in nats, are not told from each other by doubles: every release is taken to lose the worst case."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseProfile(PrivacyProfile):
    """The profile of one release: delta(epsilon) is the mean of 1 - exp(epsilon - loss) where that is positive.

    Attributes:
        law: The law of the loss.
    """

    law: LossLaw

    @property
    def worst_case(self) -> float:
        """Largest loss, in nats."""
        return self.law.worst_case

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta for which the two outputs are (epsilon, delta)-indistinguishable."""
        gap = self.worst_case - not_negative(epsilon, "epsilon")
        if gap <= 0 or self.worst_case > LARGEST:
            return float(gap > 0)
        points = self.law.points(borders_between(self.law, 0.0, gap, gap - LAYERS))
        return min(1.0, float(points.probabilities @ -np.expm1(points.shortfalls - gap)))

    def loss_at_most(self, loss: float) -> float:
        """Return the probability that a release loses at most `loss`."""
        gap, longest = self.worst_case - loss, 2 * self.worst_case
        if gap <= 0 or gap > longest or self.worst_case > LARGEST:
            return float(gap <= 0)
        return min(1.0, float(self.law.points(borders_between(self.law, gap, longest)).probabilities.sum()))

    def compose(self, releases: int) -> PrivacyProfile:
        """Return the profile of that many releases of the same record, each with fresh noise."""
        if at_least(releases, 1, "releases") == 1 or self.worst_case == 0:
            return self
        return ComposedProfile.of(self.law, releases)
