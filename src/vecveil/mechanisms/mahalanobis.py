"""Elliptical noise: wide along private axes, narrow along others (Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from vecveil.accounting import Guarantee, PrivacyProfile, additive_profile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import budget, orthonormal, point, positive, variances
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms.mechanism import ASSUMPTIONS, check_input
from vecveil.mechanisms.spherical import spherical_log_density, spherical_noise


@dataclass(frozen=True, kw_only=True, eq=False)
class MahalanobisMechanism:
    """Add noise z with density proportional to exp(-epsilon * ||z||), in Mahalanobis norm.

    An axis of infinite variance is not released: the public center stands in its place, and what two inputs differ by
    along that axis adds nothing to their distance.

    Attributes:
        epsilon: Privacy loss per unit of Mahalanobis distance; smaller is more private.
        variances: Share of the noise each axis receives; all above zero, infinite where not released.
        axes: The axes as orthonormal columns; None for the coordinate axes.
        center: What is released along unreleased axes; None for the origin.
    """

    epsilon: float
    variances: Vector
    axes: Matrix | None = None
    center: Vector | None = None

    takes_shape: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon))
        object.__setattr__(self, "variances", variances(self.variances))
        if self.axes is not None:
            axes = orthonormal(np.asarray(self.axes, dtype=np.float64), self.variances.size)
            object.__setattr__(self, "axes", axes)
        if self.center is not None:
            object.__setattr__(self, "center", point(self.center, self.variances.size, "center"))

    @classmethod
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, center: Vector | None) -> Self:
        """Return the mechanism for any shape."""
        return cls(epsilon=epsilon, variances=variances, axes=axes, center=center)

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a noisy copy of `embeddings`."""
        clean = check_input(embeddings, random, dimensions=self.variances.size).astype(np.float64)
        count, hidden = self._deviations.size, self._unreleased
        if self.axes is not None and self._is_even:
            # Even noise looks the same along any axes: drawn along the coordinates, it needs no rotation.
            noise = spherical_noise(random, count, self.epsilon, columns=clean.shape[1])
            clean += noise * self._deviations[0]
        else:
            noise = spherical_noise(random, count, self.epsilon)
            noise *= self._deviations
            clean += self._to_vectors(noise)
        if self.axes is None:
            # Set, not subtracted: the last bits of a difference would tell of the clean value.
            clean[:, ~self._released] = 0.0 if self.center is None else self.center[~self._released]
        elif hidden is not None:
            clean -= (clean @ hidden - self._held) @ hidden.T
        return clean

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        """Return, row by row, the log density of releasing `released` when the input is `original`.

        Where axes are not released it is the density on the released ones.
        """
        spherical = spherical_log_density(self.distance(released, original), self._deviations.size, self.epsilon)
        return spherical - float(np.log(self._deviations).sum())

    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        """Return, row by row, the Mahalanobis distance along the released axes."""
        difference = np.asarray(first, dtype=np.float64) - second
        return np.asarray(np.linalg.norm(self._coordinates(difference) / self._deviations, axis=-1))

    def euclidean_loss(self) -> float:
        """Return the largest loss per unit of Euclidean distance: along the axis with the least noise (Lemma 2)."""
        return self.epsilon / float(self._deviations.min())

    def released_length(self, signal: float) -> float:
        """Return the root mean square length of the release of an embedding of length `signal`."""
        return signal * math.hypot(1.0, self.noise_ratio(signal))

    def noise_ratio(self, signal: float) -> float:
        """Return the root mean square length of the noise divided by `signal`."""
        # E[radius²] = m(m + 1)/epsilon² and E[direction_i²] = 1/m, with m released axes.
        mean_square = (self._deviations.size + 1) * float((self._deviations**2).sum()) / self.epsilon**2
        return math.sqrt(mean_square) / positive(signal, "signal")

    def profile(self, distance: float) -> PrivacyProfile:
        """Return the exact privacy profile of two inputs at that Mahalanobis distance: whitened, the noise is round."""
        return additive_profile(epsilon=self.epsilon, dimensions=self._deviations.size, distance=distance)

    def guarantee(self) -> Guarantee:
        """Return the promise in Mahalanobis distance (Theorem 1)."""
        unreleased = int((~self._released).sum())
        erased = f", over the {self._deviations.size} released axes" if unreleased else ""
        center = ("what stands in for the unreleased axes is public and the same for every record",)
        return Guarantee(
            mechanism="mahalanobis",
            epsilon=self.epsilon,
            metric="Mahalanobis distance",
            distance=f"Mahalanobis distance of the veil's shape Σ, √((x − x′)ᵀ Σ⁻¹ (x − x′)){erased}",
            unit="the length of any u with uᵀ Σ⁻¹ u = 1; along an axis of Σ that is one standard deviation",
            assumptions=ASSUMPTIONS + (center if unreleased else ()),
        )

    @cached_property
    def _released(self) -> NDArray[np.bool_]:
        return np.isfinite(self.variances)

    @cached_property
    def _released_axes(self) -> Matrix:
        axes = np.eye(self.variances.size) if self.axes is None else self.axes
        return axes[:, self._released]

    @cached_property
    def _deviations(self) -> Vector:
        return np.sqrt(self.variances[self._released])

    @cached_property
    def _is_even(self) -> bool:
        """Whether all released axes have the same variance."""
        return bool((self._deviations == self._deviations[0]).all())

    @cached_property
    def _unreleased(self) -> Matrix | None:
        """The axes that are not released, as columns; None where all are."""
        if self._released.all():
            return None
        axes = np.eye(self.variances.size) if self.axes is None else self.axes
        # At right angles to the last digit: what stands along one must not show along another.
        return np.asarray(np.linalg.qr(axes[:, ~self._released])[0])

    @cached_property
    def _held(self) -> Vector:
        """What every release has along the unreleased axes."""
        if self._unreleased is None or self.center is None:
            return np.zeros(int((~self._released).sum()))
        return np.asarray(self.center @ self._unreleased)

    def _coordinates(self, vectors: Embeddings) -> Matrix:
        """Return the coordinates of `vectors` along the released axes."""
        if self.axes is None:
            return np.asarray(vectors[..., self._released], dtype=np.float64)
        return np.asarray(vectors @ self._released_axes, dtype=np.float64)

    def _to_vectors(self, coordinates: Matrix) -> Matrix:
        """Return the vectors that have `coordinates` along the released axes and nothing along the others."""
        if self.axes is not None:
            return np.asarray(coordinates @ self._released_axes.T)
        if self._unreleased is None:
            return coordinates
        vectors = np.zeros((*coordinates.shape[:-1], self.variances.size))
        vectors[..., self._released] = coordinates
        return vectors
