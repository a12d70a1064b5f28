"""Variances of Σ from a weight per axis."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import fraction, one_of
from vecveil.core.errors import InvalidInputError

Normalization: TypeAlias = Literal["trace", "level"]
"""`trace` gives the eigenvalues a sum of n, as the paper does, so that fewer axes get louder noise each.
`level` gives the largest weight a variance of one, so that an axis gets the same noise however many others do."""


def variances_from_weights(weights: Vector, *, normalize: Normalization, floor: float) -> Vector:
    """Return the eigenvalues of Σ: the floor, and what is left above it in proportion to the weights.

    The paper adds its δ of 1e-6 after normalizing, which makes the trace n + nδ; here the trace is n for any floor, as
    its Lemma 1 needs.

    Args:
        weights: How private each axis is; at least zero, not all zero.
        normalize: How to scale them.
        floor: Variance of an axis of weight zero (the paper's δ), below one. Where it is small, such an axis is
            released with almost no noise: along it one unit of Euclidean distance is 1/√floor of the guarantee's.
    """
    one_of(normalize, get_args(Normalization), "normalization")
    fraction(floor, "floor")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidInputError("weights must be finite and at least zero")
    if not weights.any():
        raise InvalidInputError("the learned weights are all zero: no axis was found to carry the concept")
    scale = 1 / (weights.mean() if normalize == "trace" else weights.max())
    return np.asarray(floor + (1 - floor) * weights * scale, dtype=np.float64)
