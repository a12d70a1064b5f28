"""From a weight per axis to the variances of Σ."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import one_of, positive
from vecveil.core.errors import InvalidInputError

Normalisation: TypeAlias = Literal["trace", "level"]
"""`trace` scales the weights to a sum of n, as the paper does, so that fewer axes get louder noise each.
`level` scales the largest weight to one, so that an axis gets the same noise however many others do."""


def variances_from_weights(weights: Vector, *, normalise: Normalisation, floor: float) -> Vector:
    """Return the eigenvalues of Σ: the scaled weights, plus the floor.

    Args:
        weights: How private each axis is; at least zero, not all zero.
        normalise: How to scale them.
        floor: Added to each (the paper's δ). An axis at the floor alone is released with almost no noise when the
            floor is small: along it one unit of Euclidean distance is 1/√floor units of the guarantee's.
    """
    one_of(normalise, get_args(Normalisation), "normalisation")
    positive(floor, "floor")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidInputError("weights must be finite and at least zero")
    if not weights.any():
        raise InvalidInputError("the learned weights are all zero: no axis was found to carry the concept")
    scale = weights.size / weights.sum() if normalise == "trace" else 1 / weights.max()
    return np.asarray(weights * scale + floor, dtype=np.float64)
