"""Grids that releases are rounded to, known before any record is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix
from vecveil.core.checks import one_of, positive
from vecveil.core.errors import InvalidInputError

_FINENESS = {"float32": (15, 2**23), "float16": (5, 2**10), "int8": (4, 127)}
"""Of each kind, the steps (as a power of two) in the size of a typical coordinate, and the outermost step.

Every multiple of the step up to the outermost is exact in its kind. Values reach to 256, 32 and 8 times the size of a
typical coordinate; what lies beyond is brought to the edge.
"""

GRIDS = tuple(_FINENESS)

SMALLEST_STEP, LARGEST_STEP = 2.0**-1000, 2.0**900
"""Beyond these, numbers run out before steps do."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Multiples of one step.

    Rounding comes after the noise and looks at nothing but the noisy value, so it costs no privacy. It takes away what
    the lowest bits of floating-point noise could tell.

    Attributes:
        kind: Type of the released numbers: float32, float16 or int8 (whole steps).
        step: Width of the grid, a power of two.
    """

    kind: str
    step: float

    def __post_init__(self) -> None:
        one_of(self.kind, GRIDS, "grid")
        if math.frexp(positive(self.step, "step"))[0] != 0.5:
            raise InvalidInputError(f"the step of a grid must be a power of two, got {self.step!r}")
        if not SMALLEST_STEP <= self.step <= LARGEST_STEP:
            raise InvalidInputError(f"the step of a grid must lie between 2^-1000 and 2^900, got {self.step!r}")
        if self.kind != "int8":
            kind = np.finfo(self.kind)
            if not float(kind.smallest_subnormal) <= self.step <= float(kind.max) / self._outermost:
                raise InvalidInputError(f"{self.kind} can't hold a grid of step {self.step:g}; take float32")

    @classmethod
    def for_coordinate(cls, kind: str, coordinate: float) -> Grid:
        """Return the grid for releases whose coordinates have a typical size of `coordinate`."""
        fineness, _ = _FINENESS[one_of(kind, GRIDS, "grid")]
        return cls(kind=kind, step=2.0 ** (math.floor(math.log2(positive(coordinate, "coordinate"))) - fineness))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the released numbers."""
        return np.dtype(self.kind)

    def round(self, values: Matrix) -> NDArray[Any]:
        """Return `values` on the grid: numbers, or whole steps where the kind is int8."""
        edge = self._outermost
        steps = values / self.step
        np.rint(steps, out=steps)
        np.clip(steps, -edge, edge, out=steps)
        # Adding zero makes zero of minus zero, which is no point of the grid.
        steps += 0.0
        if self.kind != "int8":
            steps *= self.step
        return steps.astype(self.dtype)

    def values(self, released: NDArray[Any]) -> NDArray[Any]:
        """Return what released numbers stand for: whole steps become multiples of the step again."""
        return released.astype(np.float32) * np.float32(self.step) if self.kind == "int8" else released

    @property
    def _outermost(self) -> int:
        return _FINENESS[self.kind][1]

    def __str__(self) -> str:
        held = "whole steps" if self.kind == "int8" else "multiples"
        return f"{self.kind}, {held} of {self.step:.4g} up to {self._outermost * self.step:.4g}"
