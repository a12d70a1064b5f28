"""The privacy profile: one curve in place of one bound."""

from __future__ import annotations

from abc import ABC, abstractmethod

from vecveil.core.checks import not_negative


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
