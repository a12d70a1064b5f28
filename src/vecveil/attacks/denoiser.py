"""The Wiener filter: denoising by an attacker who knows the noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import embeddings, orthonormal
from vecveil.core.errors import InvalidInputError

FEWEST_ROWS = 2

STILL, SMALLEST = 1e-12, 1e-60
"""Variances that count as none: as a share of the largest, and at any scale."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WienerFilter:
    """The linear estimate of a clean vector with the least mean squared error.

    Attributes:
        filter: Takes a released vector's distance from the center to the estimate's.
        released_center: Mean of released vectors.
        clean_center: Mean of clean ones.
    """

    filter: Matrix
    released_center: Vector
    clean_center: Vector

    def __call__(self, released: Embeddings) -> Embeddings:
        """Return the estimates of the clean vectors, of the same type."""
        checked = embeddings(released, dimensions=self.filter.shape[0], name="released vectors")
        moved = np.asarray(checked, dtype=np.float64) - self.released_center
        return np.asarray(moved @ self.filter.T + self.clean_center, dtype=checked.dtype)

    @classmethod
    def fit(cls, clean: Embeddings, released: Embeddings, *, axes: Matrix | None = None) -> WienerFilter:
        """Return the filter for a defense whose noise is uncorrelated along known axes.

        The mechanism and its shape are public, so an attacker can put any texts through it. From pairs of clean and
        released vectors it measures, axis by axis, the gain of the defense and the variance of its noise: with known
        axes that is two numbers for each, where a blind regression would have to learn a full matrix.

        Args:
            clean: Vectors of texts that the attacker has, as the model makes them.
            released: The same, as the defense lets them out.
            axes: The shape's axes as orthonormal columns; None for the coordinate axes.
        """
        before = np.asarray(embeddings(clean, name="clean vectors"), dtype=np.float64)
        after = np.asarray(embeddings(released, dimensions=before.shape[1], name="released vectors"), dtype=np.float64)
        if before.shape != after.shape or before.shape[0] < FEWEST_ROWS:
            raise InvalidInputError(
                f"a filter needs {FEWEST_ROWS} rows or more, clean and released, got {before.shape[0]} and "
                f"{after.shape[0]}"
            )
        basis = np.eye(before.shape[1]) if axes is None else orthonormal(axes, before.shape[1])
        centers = before.mean(axis=0), after.mean(axis=0)
        signal, seen = (before - centers[0]) @ basis, (after - centers[1]) @ basis
        power = (signal**2).mean(axis=0)
        # An axis that is not released has no gain and no spread: any positive number keeps the matrix invertible.
        floor = max(STILL * float(power.max()), SMALLEST)
        gain = (signal * seen).mean(axis=0) / np.maximum(power, floor)
        noise = np.maximum(((seen - gain * signal) ** 2).mean(axis=0), floor)
        # Copies of a text are released apart, but say nothing new of what texts are like.
        covariance = _covariance(signal, texts=len({row.tobytes() for row in before}))
        crossed = covariance * gain
        observed = gain[:, None] * crossed + np.diag(noise)
        return cls(
            filter=basis @ np.linalg.solve(observed, crossed.T).T @ basis.T,
            released_center=centers[1],
            clean_center=centers[0],
        )


def _covariance(signal: Matrix, *, texts: int) -> Matrix:
    """Return the covariance of centered rows, with correlations shrunk as far as chance explains them.

    With fewer texts than dimensions, the plain covariance says that most directions never move, and a filter would wipe
    out whatever new texts have there. The share that is taken off is Schäfer and Strimmer's (2005): the variance of the
    estimated covariances over their squares, both summed over pairs of axes.
    """
    plain = signal.T @ signal / signal.shape[0]
    own = np.diag(np.diag(plain))
    between = float(((plain - own) ** 2).sum())
    squares = signal**2
    scatter = float((squares.sum(axis=1) ** 2).mean() - (squares**2).sum(axis=1).mean()) - between
    share = min(1.0, scatter / texts / between) if between > 0 else 0.0
    return np.asarray(plain + share * (own - plain))
