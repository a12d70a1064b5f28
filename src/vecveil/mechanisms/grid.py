"""The grid that releases are rounded to: a power of two for all coordinates, known before any record is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix
from vecveil.core.checks import one_of, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.late import loops

_FINENESS = {"float32": (15, 2**23), "float16": (5, 2**10), "int8": (4, 127)}
"""Of each kind, the steps (as a power of two) in the size of a typical coordinate, and the outermost step.

Every multiple of the step up to the outermost is exact in its kind. Values reach to 256, 32 and 8 times the size of a
typical coordinate; what lies beyond is brought to the edge.
"""

GRIDS = tuple(_FINENESS)

SMALLEST_STEP, LARGEST_STEP = 2.0**-1000, 2.0**900
"""Beyond these, numbers run out before steps do."""

_COARSE = 1.5 * 2**52
"""Of numbers about this large, neighbours differ by one."""


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
    def of(cls, kind: str, *, coordinate: float) -> Grid:
        """Return the grid for releases whose coordinates have a typical size of `coordinate`."""
        fineness, _ = _FINENESS[one_of(kind, GRIDS, "grid")]
        return cls(kind=kind, step=2.0 ** (math.floor(math.log2(positive(coordinate, "coordinate"))) - fineness))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the released numbers."""
        return np.dtype(self.kind)

    def rounded(self, values: Matrix, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return `values`, which may be overwritten, on the grid: numbers, or whole steps where the kind is int8."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        released = np.empty(values.shape, dtype=self.dtype) if out is None else out
        if released.shape != values.shape:
            raise InvalidInputError(f"values of shape {values.shape} can't be rounded into shape {released.shape}")
        coarse, lowest, highest = self._sums
        if released.dtype == np.float32 and released.flags.c_contiguous and self.kind == "float32":
            loops().fill_grid(values.reshape(-1), coarse, lowest, highest, released.reshape(-1))
            return released
        values += coarse
        values.clip(lowest, highest, out=values)
        values -= coarse
        if self.kind == "int8":
            values *= 1 / self.step
        released[...] = values
        return released

    @property
    def _outermost(self) -> int:
        return _FINENESS[self.kind][1]

    @cached_property
    def _sums(self) -> tuple[float, float, float]:
        """What is added to a value, and the lowest and the highest sum.

        A sum this large has no digits below the step left: it is rounded to the nearest multiple, and what was added
        goes off again without a rest. Minus zero, which is no point of the grid, becomes zero on the way.
        """
        coarse, edge = _COARSE * self.step, self._outermost * self.step
        return coarse, coarse - edge, coarse + edge

    def __str__(self) -> str:
        held = "whole steps" if self.kind == "int8" else "multiples"
        return f"{self.kind}, {held} of {self.step:.4g} up to {self._outermost * self.step:.4g}"
