"""Noise shapes: axes and the noise that each receives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecveil.core.arrays import Matrix, Vector, frozen
from vecveil.core.checks import orthonormal, point, variances


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
