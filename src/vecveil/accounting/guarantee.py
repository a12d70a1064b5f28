"""The guarantee of a mechanism, with its distance, unit and assumptions."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import positive
from vecveil.core.errors import InvalidInputError


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Metric local differential privacy of one release.

    For any two inputs x and x' and any set of outputs, the probability of landing in the set differs by a factor
    of at most exp(epsilon * distance(x, x')).

    Attributes:
        mechanism: Name of the mechanism that makes the promise.
        epsilon: Largest privacy loss, in nats, per unit of the distance.
        metric: Short name of the distance.
        distance: The distance, in words and as a formula.
        unit: What one unit of the distance is.
        assumptions: What must be true for the promise to hold.
        grid: What releases are rounded to, in words; empty where that is left to the caller.
    """

    mechanism: str
    epsilon: float
    metric: str
    distance: str
    unit: str
    assumptions: tuple[str, ...]
    grid: str = ""

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")

    def assuming(self, *assumptions: str) -> Guarantee:
        """Return the same promise under further assumptions."""
        return replace(self, assumptions=(*self.assumptions, *assumptions))

    def on_grid(self, grid: str) -> Guarantee:
        """Return the same promise for releases that are rounded to a grid, which looks at the noisy value alone."""
        return replace(self, grid=grid)

    def __str__(self) -> str:
        assumptions = "\n".join(f"  - {assumption}" for assumption in self.assumptions)
        return (
            f"{self.mechanism}: {self.epsilon:.6g}·d metric local differential privacy\n"
            f"  distance d: {self.distance}\n"
            f"  unit:       {self.unit}\n"
            + (f"  grid:       {self.grid}\n" if self.grid else "")
            + f"It holds if:\n{assumptions}"
        )


QUIET = 0.01
"""An axis with less of the noise than this, over what even noise would give it, is released almost in clear."""


@dataclass(frozen=True, kw_only=True)
class EuclideanBounds:
    """Lemmas 1 and 2 of the paper as numbers: bounds of the privacy loss of elliptical noise per Euclidean distance.

    For every difference v of two inputs, epsilon·‖v‖_M is at least `lower`·‖v‖₂ and at most `upper`·‖v‖₂. The paper
    states the lower one as epsilon/√n, which needs a trace of n and is never better than the one given here.

    Attributes:
        epsilon: Privacy loss per unit of Mahalanobis distance.
        smallest: Smallest eigenvalue of Σ among the released axes (the lemmas' c).
        largest: Largest eigenvalue of Σ among the released axes.
        trace: Sum of the eigenvalues of the released axes.
        dimensions: Length of a vector.
        unreleased: Number of axes that are not released; along those the loss is zero, so that the lower bound only
            speaks of what is left of v on the released ones.
        quiet: Number of released axes that get less than a hundredth of what even noise would give them.
    """

    epsilon: float
    smallest: float
    largest: float
    trace: float
    dimensions: int
    unreleased: int
    quiet: int = 0

    @classmethod
    def from_variances(cls, *, epsilon: float, variances: Vector) -> EuclideanBounds:
        """Return the bounds for the eigenvalues `variances` of Σ; an infinite one is an axis not released."""
        released = variances[np.isfinite(variances)]
        if released.size == 0:
            raise InvalidInputError("at least one axis must be released, got none")
        return cls(
            epsilon=positive(epsilon, "epsilon"),
            smallest=float(released.min()),
            largest=float(released.max()),
            trace=float(released.sum()),
            dimensions=variances.size,
            unreleased=variances.size - released.size,
            quiet=int((released < QUIET**2 * released.mean()).sum()),
        )

    @property
    def lower(self) -> float:
        """Smallest loss per unit of Euclidean distance along the released axes: epsilon/√largest."""
        return self.epsilon / math.sqrt(self.largest)

    @property
    def upper(self) -> float:
        """Largest loss per unit of Euclidean distance: epsilon/√smallest (Lemma 2)."""
        return self.epsilon / math.sqrt(self.smallest)

    @property
    def paper_lower(self) -> float | None:
        """The paper's epsilon/√n, or None where its condition, a trace of n, doesn't hold."""
        if self.unreleased or not math.isclose(self.trace, self.dimensions, rel_tol=1e-3):
            return None
        return self.epsilon / math.sqrt(self.dimensions)

    def __str__(self) -> str:
        paper = "" if self.paper_lower is None else f" (the paper's ε/√n: {self.paper_lower:.4g})"
        erased = f" along the released axes, and 0 along the {self.unreleased} others" if self.unreleased else ""
        return (
            f"smallest eigenvalue of Σ: {self.smallest:.4g}, largest: {self.largest:.4g}\n"
            f"worst-case loss per unit of Euclidean distance: at least {self.lower:.4g}{paper}{erased}, "
            f"at most {self.upper:.4g}"
        )
