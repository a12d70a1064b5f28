"""Lower bounds on the privacy loss of releases.

One half of the releases chooses an event, the other half counts how often it comes from each of the two inputs. The
bounds on the two chances are exact, so that a bound above the promise is a break of the promise, but for the stated
chance of a false alarm.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.checks import not_negative
from vecveil.mechanisms import Mechanism
from vecveil.testing.selftest.pairs import Pair, Releases
from vecveil.testing.selftest.result import Finding

Counts = NDArray[np.integer[Any]] | int

SMALLEST_LEVEL = 1e-300
"""No p-value below this is told from any other."""


def at_least(hits: Counts, trials: int, level: float) -> Vector:
    """Return a bound that lies above the chance of a hit with probability `level` at most."""
    from scipy.special import betaincinv

    some = np.maximum(hits, 1)
    return np.where(np.asarray(hits) > 0, betaincinv(some, trials - some + 1, level), 0.0)


def at_most(hits: Counts, trials: int, level: float) -> Vector:
    """Return a bound that lies below the chance of a hit with probability `level` at most."""
    # A hit of the one is a miss of the other, which keeps the digits of a small level.
    return 1 - at_least(trials - np.asarray(hits), trials, level)


def excess(hits: Counts, others: Counts, trials: int, *, factor: float, level: float) -> Vector:
    """Return a bound that lies above p - factor * q with probability `level` at most.

    Args:
        hits: How often the event came in `trials` trials of chance p.
        others: How often in as many trials of chance q.
        trials: The number of trials of each.
        factor: What q is multiplied by.
        level: Chance that the bound is wrong, half of it for p and half for q.
    """
    return at_least(hits, trials, level / 2) - factor * at_most(others, trials, level / 2)


def excess_pvalue(hits: int, others: int, trials: int, *, factor: float, allowed: float) -> float:
    """Return the smallest level at which the counts prove that p - factor * q is above `allowed`; 1 if none does."""

    def proven(log_level: float) -> bool:
        return bool(excess(hits, others, trials, factor=factor, level=math.exp(log_level)) > allowed)

    low, high = math.log(SMALLEST_LEVEL), 0.0
    if not proven(high):
        return 1.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if proven(middle) else (middle, high)
    return math.exp(high)


EPSILONS = (0.0, 1.0, 2.0)
"""Nats at which the delta of an approximate guarantee is bounded."""

CHOICE_LEVEL = 1e-9
"""Level at which events are compared with one another. It decides which event is counted, not whether it counts."""

CHOICES = 1 / (1 + np.exp(-np.linspace(-8, 8, 129)))
"""Quantiles that an event may begin at: dense at both ends."""


@dataclass(frozen=True, kw_only=True)
class Loss(Finding):
    """How well one event tells two inputs apart; the detail says how the inputs differ.

    Attributes:
        distance: Between them.
        at: Nats at which a delta is meant; None for the loss itself.
        promised: What follows from epsilon times distance alone: the largest loss, or the largest delta.
        exact: The same for the law that the mechanism claims to sample.
        hits: How often the event came from the one input.
        others: How often from the other.
        trials: The number of releases of each.
    """

    distance: float
    at: float | None
    promised: float
    exact: float
    hits: int
    others: int
    trials: int

    def bound(self, level: float) -> float:
        """Return the lower bound on the loss, or on the delta, that is wrong with probability `level` at most."""
        if self.at is not None:
            return max(0.0, float(excess(self.hits, self.others, self.trials, factor=math.exp(self.at), level=level)))
        low, high = at_least(self.hits, self.trials, level / 2), at_most(self.others, self.trials, level / 2)
        return max(0.0, math.log(low / high)) if low > 0 else 0.0

    def as_dict(self, level: float) -> dict[str, Any]:
        """Return everything as plain data, with the verdict and the bound at that level."""
        return {**super().as_dict(level), "at_least": self.bound(level)}


def losses(subject: str, mechanism: Mechanism, pair: Pair, ours: Releases, theirs: Releases) -> Iterator[Loss]:
    """Yield the loss and the deltas of a pair, seen from its first input and from its second."""
    limits = list(_limits(mechanism, pair.distance))
    yield from _one_way(subject, pair, ours, theirs, name=pair.name, limits=limits)
    turned = f"{pair.name}, turned round"
    yield from _one_way(subject, pair, theirs.swap(), ours.swap(), name=turned, limits=limits)


@dataclass(frozen=True, kw_only=True)
class _Limit:
    """What may be given away: p - factor * q is at most `allowed`, for the chances p and q of any event."""

    at: float | None
    factor: float
    allowed: float
    promised: float
    exact: float


def _limits(mechanism: Mechanism, distance: float) -> Iterator[_Limit]:
    promise = mechanism.epsilon * distance
    yield _Limit(at=None, factor=math.exp(promise), allowed=0.0, promised=promise, exact=promise)
    for at in EPSILONS:
        # Inputs at no distance have the same law.
        exact = not_negative(mechanism.profile(distance).delta(at), "delta") if distance > 0 else 0.0
        # Of all that lose no more than `promise`, randomized response loses most: (e^promise - e^at)/(e^promise + 1).
        promised = max(0.0, -math.expm1(at - promise) / (1 + math.exp(-promise)))
        yield _Limit(at=at, factor=math.exp(at), allowed=min(exact, promised), promised=promised, exact=exact)


def _one_way(
    subject: str, pair: Pair, ours: Releases, theirs: Releases, *, name: str, limits: list[_Limit]
) -> Iterator[Loss]:
    (choosing, counting), (choosing_other, counting_other) = ours.halves(), theirs.halves()
    events = Events.from_statistics(choosing.statistics(), choosing_other.statistics())
    seen, seen_other = counting.statistics(), counting_other.statistics()
    trials = seen.shape[1]
    for limit in limits:
        statistic, threshold = events.choose(None if limit.at is None else limit.factor)
        hits, others = (int((values[statistic] > threshold).sum()) for values in (seen, seen_other))
        yield Loss(
            subject=subject,
            check="privacy loss" if limit.at is None else f"delta at {limit.at:g}",
            pvalue=excess_pvalue(hits, others, trials, factor=limit.factor, allowed=limit.allowed),
            detail=name,
            distance=pair.distance,
            at=limit.at,
            promised=limit.promised,
            exact=limit.exact,
            hits=hits,
            others=others,
            trials=trials,
        )


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
    def from_statistics(cls, ours: Matrix, theirs: Matrix) -> Events:
        """Return the events for statistics of releases of the one input and of the other, one row each."""
        # "Lower" keeps to values that were seen: between two of them there is nothing to tell them apart by.
        both = np.concatenate([ours, theirs], axis=1)
        thresholds = np.quantile(both, CHOICES, axis=1, method="lower").T
        return cls(
            thresholds=thresholds,
            low=at_least(_above(ours, thresholds), ours.shape[1], CHOICE_LEVEL),
            high=at_most(_above(theirs, thresholds), theirs.shape[1], CHOICE_LEVEL),
        )

    def choose(self, factor: float | None) -> tuple[int, float]:
        """Return statistic and threshold of the event with the largest p - factor * q, or p/q where that is None."""
        scores = self.low / self.high if factor is None else self.low - factor * self.high
        statistic, place = np.unravel_index(int(np.argmax(scores)), scores.shape)
        return int(statistic), float(self.thresholds[statistic, place])


def _above(values: Matrix, thresholds: Matrix) -> NDArray[np.intp]:
    """Return, for each statistic and threshold, how many values lie above."""
    pairs = zip(np.sort(values, axis=1), thresholds, strict=True)
    return np.stack([ordered.size - np.searchsorted(ordered, limits, side="right") for ordered, limits in pairs])
