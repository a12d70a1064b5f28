"""Elliptical noise that is the same along all axes but a few: only those few are worked on, and nothing is turned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.mechanisms.draws import Draws

FEW = 1 / 4
"""Share of the axes up to which this takes less work than turning noise into all of them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FewAxes:
    """Noise of one deviation, corrected along a few axes.

    Normals look the same from every side. So they need not be drawn along the axes: drawn along the coordinates, they
    have their right length along most axes already.

    Attributes:
        usual: Deviation along all axes but the few.
        uneven: Axes with another deviation, as orthonormal columns.
        changes: By what share of the usual one it is more than that.
        unreleased: Axes that are not released, as orthonormal columns.
        held: What stands there instead, in coordinates along them.
    """

    usual: float
    uneven: Matrix
    changes: Vector
    unreleased: Matrix
    held: Vector

    @classmethod
    def of(cls, variances: Vector, axes: Matrix, centre: Vector | None) -> Self | None:
        """Return it for a shape, or None where too many axes differ."""
        released = np.isfinite(variances)
        values, times = np.unique(variances[released], return_counts=True)
        usual = values[np.argmax(times)]
        uneven = released & (variances != usual)
        if (uneven | ~released).mean() > FEW:
            return None
        unreleased = np.ascontiguousarray(axes[:, ~released])
        return cls(
            usual=float(np.sqrt(usual)),
            uneven=np.ascontiguousarray(axes[:, uneven]),
            changes=np.sqrt(variances[uneven]) / np.sqrt(usual) - 1,
            unreleased=unreleased,
            held=np.zeros(unreleased.shape[1]) if centre is None else centre @ unreleased,
        )

    def release(self, embeddings: Embeddings, draws: Draws) -> Matrix:
        """Return `embeddings` with the noise of `draws`, which has a normal for every coordinate."""
        noise = draws.normals
        noise *= (self.usual * draws.amounts)[:, np.newaxis]
        uneven = (noise @ self.uneven) * self.changes if self.changes.size else None
        noise += embeddings
        product = draws.room("product", noise.shape)
        if uneven is not None:
            noise += np.matmul(uneven, self.uneven.T, out=product)
        if self.held.size:
            # Twice: what rounding leaves the first time depends on what is taken away, and the vector is part of that.
            for _ in range(2):
                noise -= np.matmul(noise @ self.unreleased - self.held, self.unreleased.T, out=product)
        return noise
