"""Whether a mechanism samples the density that it states, for any mechanism, by its two inputs alone.

What x' releases can be foretold from what x releases, weighted with the ratio of the stated densities. The foretold
share of releases in a set and the share that is seen differ by chance only, if the density is that of the sampler.
Both are means of bounded numbers, so the chance has an exact bound (Maurer and Pontil's empirical Bernstein bound).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.testing.selftest.finding import Finding
from vecveil.testing.selftest.pairs import Pair
from vecveil.testing.selftest.releases import Releases

STATISTICS = ("ratio", "difference", "far from the second", "near the first")
"""The rows of `Releases.statistics`, in words."""

PARTS = 4
"""Sets for each statistic: the quarters that one half of the releases falls into."""

ROUNDING = 1e-6
"""By how much a stated log density may be off."""


def stated_loss(subject: str, epsilon: float, pair: Pair, *releases: Releases) -> Finding:
    """Hold the stated densities themselves against the promise; there is no chance in this."""
    largest = max(float(np.abs(seen.near_first - seen.near_second).max()) for seen in releases)
    promised = epsilon * pair.distance
    kept = largest <= promised * (1 + ROUNDING) + ROUNDING
    detail = f"{pair.name}: the stated densities differ by {largest:.6g} nats, promised are {promised:.6g}"
    return Finding(subject=subject, check="stated loss", pvalue=float(kept), detail=detail)


def density_findings(subject: str, epsilon: float, pair: Pair, ours: Releases, theirs: Releases) -> Iterator[Finding]:
    """Yield a p-value for each set: does the stated density foretell from `ours` how often `theirs` fall into it?"""
    largest_weight = math.exp(epsilon * pair.distance + ROUNDING)
    choosing, counting = ours.halves()
    _, foretold = theirs.halves()
    weights = np.exp(np.minimum(counting.near_second - counting.near_first, math.log(largest_weight)))
    rows = zip(STATISTICS, choosing.statistics(), counting.statistics(), foretold.statistics(), strict=True)
    for name, chosen, seen, expected in rows:
        borders = np.quantile(chosen, np.arange(1, PARTS) / PARTS)
        for part in range(PARTS):
            pvalue = _same_mean_pvalue(
                weights * (np.searchsorted(borders, seen) == part),
                (np.searchsorted(borders, expected) == part).astype(np.float64),
                largest=largest_weight,
            )
            detail = f"{pair.name}, by {name}, quarter {part + 1}"
            yield Finding(subject=subject, check="density", pvalue=pvalue, detail=detail)


def _same_mean_pvalue(first: Vector, second: Vector, *, largest: float) -> float:
    """Return how likely two means differ so much; the numbers lie between 0 and `largest`, those of `second` and 1."""
    # Each mean is off by more than √(2·variance·L/n) + 7·range·L/(3(n − 1)) to one side with a chance of 2·exp(−L).
    root = sum(math.sqrt(2 * float(values.var(ddof=1)) / values.size) for values in (first, second))
    linear = sum(7 * reach / (3 * (values.size - 1)) for values, reach in ((first, largest), (second, 1.0)))
    gap = abs(float(first.mean()) - float(second.mean()))
    reached = ((math.sqrt(root**2 + 4 * linear * gap) - root) / (2 * linear)) ** 2
    return min(1.0, 8 * math.exp(-reached))
