"""Elliptical noise that is the same along all axes but a few: only those few are worked on, and nothing is turned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.late import axis_loops
from vecveil.mechanisms.draws import Draws
from vecveil.mechanisms.spherical import moved

FEW = 1 / 4
"""Share of the axes up to which this takes less work than turning noise into all of them."""

FAINT = 2.0**-24
"""What noise an unreleased axis has, as a share of that of a usual axis.

Rounding leaves 10^-16 there of what is taken away, which depends on the vector. Where noise is not far shorter than
vectors, this is ten million times as much, so that nothing of it can be seen; and it is a five-hundredth of a step of
the grid. It has a deviation of its own, whatever the amount of a row: else it would tell of that.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class FewAxes:
    """Noise of one deviation, corrected along a few axes.

    Normals look the same from every side. So they need not be drawn along the axes: drawn along the coordinates, they
    have their right length along most axes already.

    Attributes:
        deviations: That along all axes but the few, once for each coordinate.
        uneven: Axes with another deviation, as orthonormal rows.
        changes: By what share of the usual one it is more than that.
        unreleased: Axes that are not released, as orthonormal rows.
        held: What stands there instead, in coordinates along them.
        faint: Deviation of the noise there.
    """

    deviations: Vector
    uneven: Matrix
    changes: Vector
    unreleased: Matrix
    held: Vector
    faint: float

    @classmethod
    def of(cls, variances: Vector, axes: Matrix, centre: Vector | None, *, epsilon: float) -> Self | None:
        """Return it for a shape, or None where too many axes differ."""
        released = np.isfinite(variances)
        values, times = np.unique(variances[released], return_counts=True)
        usual = values[np.argmax(times)]
        uneven = released & (variances != usual)
        if (uneven | ~released).mean() > FEW:
            return None
        unreleased = _at_right_angles(axes[:, ~released])
        return cls(
            deviations=np.full(len(axes), np.sqrt(usual)),
            uneven=_at_right_angles(axes[:, uneven]),
            changes=np.sqrt(variances[uneven]) / np.sqrt(usual) - 1,
            unreleased=unreleased,
            held=np.zeros(len(unreleased)) if centre is None else unreleased @ centre,
            faint=float(FAINT * np.sqrt(usual) * np.sqrt(released.sum() + 1) / epsilon),
        )

    @property
    def width(self) -> int:
        """Number of standard normals of each row: one for each coordinate, and for each unreleased axis."""
        return len(self.deviations) + self.held.size

    def release(self, embeddings: Embeddings, draws: Draws) -> Matrix:
        """Return `embeddings` with the noise of `draws`."""
        rows = len(embeddings)
        if self.changes.size:
            axes, changes = self._uneven_tiles
            along = draws.room("along", (rows, changes.size))
            along.fill(0.0)
            axis_loops().correct(draws.normals, axes, changes, along)
        noisy = moved(embeddings, draws, self.deviations)
        if self.held.size:
            axes, all_of_it = self._unreleased_tiles
            wanted = draws.room("along", (rows, all_of_it.size))
            axis_loops().place(self.held, draws.normals, self.faint, wanted)
            axis_loops().correct(noisy, axes, all_of_it, wanted)
        return noisy

    @cached_property
    def _uneven_tiles(self) -> tuple[Matrix, Vector]:
        return _tiles(self.uneven, self.changes)

    @cached_property
    def _unreleased_tiles(self) -> tuple[Matrix, Vector]:
        return _tiles(self.unreleased, np.full(len(self.unreleased), -1.0))


def _at_right_angles(columns: Matrix) -> Matrix:
    """Return axes as rows, at right angles to the last digit: what is moved along one must not show along another."""
    found, triangle = np.linalg.qr(columns)
    return np.ascontiguousarray((found * np.sign(np.diag(triangle))).T)


def _tiles(axes: Matrix, factors: Vector) -> tuple[Matrix, Vector]:
    """Return axes, which are rows, and a factor for each, with so many of zeros behind them as the loops need."""
    missing = -len(axes) % axis_loops().TILE
    return np.pad(axes, ((0, missing), (0, 0))), np.pad(factors, (0, missing))
