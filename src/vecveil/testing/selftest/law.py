"""Findings about the law of noise and its stated density.

The law is tested by the p-values of `vecveil.testing.samplers`. The stated density is tested for any mechanism: what x'
releases can be predicted from what x releases, weighted with the ratio of the stated densities. The predicted share of
releases in a set and the observed share differ by chance only, if the density is that of the sampler. Both are means of
bounded numbers, so the chance has an exact bound (Maurer and Pontil's empirical Bernstein bound).
"""

import math
from collections.abc import Iterator

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.testing.samplers import elliptical_pvalues, purkayastha_pvalues
from vecveil.testing.selftest.pairs import Pair, Releases
from vecveil.testing.selftest.result import Finding
from vecveil.testing.selftest.subjects import Subject

NUMBERS = 1 << 21
"""Numbers that are drawn at a time, at most: rows times dimensions."""

FEWEST_ROWS = 4000

ALLOWANCE = 50.0
"""What p-values are multiplied by. Some rest on the normal law of a mean of squares, which is off far out in its tail.

At a p-value of 10^-11 and 4,000 rows they are 40 times too small in one dimension, and about 10 times in many.
"""

STATISTICS = ("ratio", "difference", "far from the second", "near the first")
"""The rows of `Releases.statistics`, in words."""

PARTS = 4
"""Sets for each statistic: the quarters that one half of the releases falls into."""

ROUNDING = 1e-6
"""By how much a stated log density may be off."""


def law_findings(subject: Subject, *, samples: int, rng: np.random.Generator) -> Iterator[Finding]:
    """Yield the p-values of radius, direction, spread, independence and the rest; none where the law isn't known."""
    shape = subject.shape
    rows = min(samples, max(FEWEST_ROWS, NUMBERS // shape.dimensions))
    epsilon = subject.mechanism.epsilon
    found: dict[str, float] = {}

    def perturb(vectors: Matrix) -> Matrix:
        return subject.perturb(vectors, rng)

    if subject.law == "elliptical":
        found = elliptical_pvalues(perturb, epsilon=epsilon, variances=shape.variances, axes=shape.axes, rows=rows)
    elif subject.law == "angular":
        found = purkayastha_pvalues(perturb, epsilon=epsilon, dimensions=shape.dimensions, rows=rows)
    for check, pvalue in found.items():
        yield Finding(subject=subject.title, check=check, pvalue=float(np.minimum(1.0, ALLOWANCE * pvalue)))


def stated_loss(subject: str, epsilon: float, pair: Pair, *releases: Releases) -> Finding:
    """Hold the stated densities themselves against the promise; there is no chance in this."""
    largest = max(float(np.abs(seen.near_first - seen.near_second).max()) for seen in releases)
    promised = epsilon * pair.distance
    kept = largest <= promised * (1 + ROUNDING) + ROUNDING
    detail = f"{pair.name}: the stated densities differ by {largest:.6g} nats, promised are {promised:.6g}"
    return Finding(subject=subject, check="stated loss", pvalue=float(kept), detail=detail)


def density_findings(subject: str, epsilon: float, pair: Pair, ours: Releases, theirs: Releases) -> Iterator[Finding]:
    """Yield a p-value for each set: does the stated density predict from `ours` how often `theirs` fall into it?"""
    largest_weight = math.exp(epsilon * pair.distance + ROUNDING)
    choosing, counting = ours.halves()
    _, predicted = theirs.halves()
    weights = np.exp(np.minimum(counting.near_second - counting.near_first, math.log(largest_weight)))
    rows = zip(STATISTICS, choosing.statistics(), counting.statistics(), predicted.statistics(), strict=True)
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
