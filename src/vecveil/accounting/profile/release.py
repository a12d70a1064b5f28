"""The profile of one release, integrated from the law of its loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.accounting.profile.composition import ComposedProfile
from vecveil.accounting.profile.curve import PrivacyProfile
from vecveil.accounting.profile.laws import LossLaw, borders_between
from vecveil.core.checks import at_least, not_negative

LAYERS = np.array([0.0, 5.0, 40.0])
"""How far above epsilon, in nats, panels end: 1 - exp(epsilon - loss) rises from 0 to 1 over these."""


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
        if gap <= 0:
            return 0.0
        points = self.law.points(borders_between(self.law, 0.0, gap, gap - LAYERS))
        return min(1.0, float(points.probabilities @ -np.expm1(points.shortfalls - gap)))

    def loss_at_most(self, loss: float) -> float:
        """Return the probability that a release loses at most `loss`."""
        gap, longest = self.worst_case - loss, 2 * self.worst_case
        if gap <= 0 or gap > longest:
            return float(gap <= 0)
        return min(1.0, float(self.law.points(borders_between(self.law, gap, longest)).probabilities.sum()))

    def compose(self, releases: int) -> PrivacyProfile:
        """Return the profile of that many releases of the same record, each with fresh noise."""
        if at_least(releases, 1, "releases") == 1 or self.worst_case == 0:
            return self
        return ComposedProfile.of(self.law, releases)
