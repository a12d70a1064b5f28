"""A measured number and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.errors import InvalidInputError, MissingExtraError

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value between the ends of its 95 % bootstrap interval over texts."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def ratio(parts: Vector, wholes: Vector, *, seed: int = 0) -> Estimate:
    """Return sum(parts) / sum(wholes), resampled by rows: the words of one text stand and fall together.

    Args:
        parts: What was found in each row.
        wholes: What could have been found; rows with nothing don't count.
        seed: Of the resampling.
    """
    try:
        from scipy.stats import bootstrap
    except ImportError:
        raise MissingExtraError("scipy", "audit") from None
    counted = wholes > 0
    if not counted.any():
        raise InvalidInputError("nothing to take a share of: every whole is zero")
    shares = parts[counted].astype(np.float64), wholes[counted].astype(np.float64)
    value = float(shares[0].sum() / shares[1].sum())
    if counted.sum() < 2:
        return Estimate(value=value, low=0.0, high=1.0)

    def quotient(part: Vector, whole: Vector, axis: int) -> Vector:
        return np.asarray(part.sum(axis=axis) / whole.sum(axis=axis))

    found = bootstrap(
        shares,
        quotient,
        paired=True,
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
        batch=100,
    ).confidence_interval
    # A bootstrap never leaves what it saw: where no row had any part, or every row all, it would be sure of itself.
    unseen = float(((1 - LEVEL) / 2) ** (1 / counted.sum()))
    low = unseen if (shares[0] == shares[1]).all() else float(found.low)
    high = 1 - unseen if not shares[0].any() else float(found.high)
    return Estimate(value=value, low=low, high=high)
