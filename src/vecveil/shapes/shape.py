"""Noise shapes: axes, and the variance of the noise along each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from vecveil.core.arrays import Matrix, Vector, frozen
from vecveil.core.checks import fraction, one_of, orthonormal, point, variances
from vecveil.core.errors import InvalidInputError

Normalization: TypeAlias = Literal["trace", "level"]
"""`trace` gives the eigenvalues a sum of n, as the paper does, so that fewer axes get louder noise each.
`level` gives the largest weight a variance of one, so that an axis gets the same noise however many others do."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseShape:
    """A set of axes and how much noise each receives.

    Attributes:
        variances: Eigenvalues of Σ, one per axis, above zero; an infinite one means that the axis is not released.
        axes: The axes as orthonormal columns; None for the coordinate axes (a diagonal shape).
        center: The public point that is released along unreleased axes; None for the origin.
    """

    variances: Vector
    axes: Matrix | None = None
    center: Vector | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "variances", variances(self.variances))
        if self.axes is not None:
            object.__setattr__(self, "axes", orthonormal(frozen(self.axes), self.dimensions))
        if self.center is not None:
            object.__setattr__(self, "center", point(self.center, self.dimensions, "center"))

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.variances.size)

    @property
    def released(self) -> int:
        """Number of axes that are released."""
        return int(np.isfinite(self.variances).sum())

    @cached_property
    def unreleased_axes(self) -> Matrix:
        """The axes that are not released, as columns."""
        axes = np.eye(self.dimensions) if self.axes is None else np.asarray(self.axes)
        return np.ascontiguousarray(axes[:, ~np.isfinite(self.variances)])

    @property
    def rotated(self) -> bool:
        """Whether the axes are other than the coordinate axes."""
        return self.axes is not None


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
