"""Whether noise has its law: the p-values of `vecveil.testing.samplers`, as findings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vecveil.testing.samplers import elliptical_pvalues, purkayastha_pvalues
from vecveil.testing.selftest.finding import Finding
from vecveil.testing.selftest.subjects import Subject

NUMBERS = 1 << 21
"""Numbers that are drawn at a time, at most: rows times dimensions."""

FEWEST_ROWS = 4000

ALLOWANCE = 50.0
"""What p-values are multiplied by. Some rest on the normal law of a mean of squares, which is off far out in its tail.

At a p-value of 10^-11 and 4,000 rows they are 40 times too small in one dimension, and about 10 times in many.
"""


def law_findings(subject: Subject, *, samples: int, rng: np.random.Generator) -> Iterator[Finding]:
    """Yield the p-values of radius, direction, spread, independence and the rest; none where the law isn't known."""
    shape = subject.shape
    rows = min(samples, max(FEWEST_ROWS, NUMBERS // shape.dimensions))
    found: dict[str, float] = {}
    if subject.law == "elliptical":
        found = elliptical_pvalues(subject.mechanism, variances=shape.variances, axes=shape.axes, rows=rows, rng=rng)
    elif subject.law == "angular":
        found = purkayastha_pvalues(subject.mechanism, dimensions=shape.dimensions, rows=rows, rng=rng)
    for check, pvalue in found.items():
        yield Finding(subject=subject.title, check=check, pvalue=float(np.minimum(1.0, ALLOWANCE * pvalue)))
