"""Elliptical noise: wide along the private axes, narrow along the others (Algorithm 1 of the paper)."""

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
from vecveil.core.checks import embeddings as checked
from vecveil.mechanisms.chance import Chance
from vecveil.mechanisms.draws import Draws, generator_draws, require_fit
from vecveil.mechanisms.few_axes import FewAxes
from vecveil.mechanisms.mechanism import ASSUMPTIONS
from vecveil.mechanisms.spherical import factors, moved, spherical_log_density

STRIPE = 128
"""Columns of a product that are made together: wide enough for a matrix library to work at full speed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MahalanobisMechanism:
    """Add noise z with density proportional to exp(-epsilon * ||z||), in Mahalanobis norm.

    An axis of infinite variance is not released: the public centre stands in its place, with noise that is too faint to
    be seen where it hides what rounding leaves, and what two inputs differ by along that axis adds nothing to their
    distance.

    Attributes:
        epsilon: Privacy loss per unit of Mahalanobis distance; smaller is more private.
        variances: Share of the noise each axis receives; all above zero, infinite where not released.
        axes: The axes as orthonormal columns; None for the coordinate axes.
        centre: What is released along unreleased axes; None for the origin.
    """

    epsilon: float
    variances: Vector
    axes: Matrix | None = None
    centre: Vector | None = None

    takes_shape: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon))
        object.__setattr__(self, "variances", variances(self.variances))
        if self.axes is not None:
            object.__setattr__(self, "axes", np.asarray(self.axes, dtype=np.float64))
            orthonormal(self.axes, self.variances.size)
        if self.centre is not None:
            object.__setattr__(self, "centre", point(self.centre, self.variances.size, "centre"))

    @classmethod
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, centre: Vector | None) -> Self:
        """Return the mechanism for any shape."""
        return cls(epsilon=epsilon, variances=variances, axes=axes, centre=centre)

    @property
    def width(self) -> int:
        """Number of standard normals of each row."""
        return self._deviations.size if self._few_axes is None else self._few_axes.width

    def amounts(self, chance: Chance) -> Vector:
        """Return by what the normals of each row are multiplied, before they are stretched."""
        return factors(self._deviations.size, self.epsilon, chance)

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a noisy copy of `embeddings`."""
        clean = checked(embeddings, dimensions=self.variances.size)
        return self.release(clean, generator_draws(self, clean.shape[0], rng)).astype(clean.dtype, copy=False)

    def release(self, embeddings: Embeddings, draws: Draws) -> Matrix:
        """Return `embeddings` with the noise of `draws`, in double precision."""
        require_fit(self, self.variances.size, embeddings, draws)
        if self._few_axes is not None:
            return self._few_axes.release(embeddings, draws)
        if not self._whole:
            coordinates = moved(self._coordinates(embeddings), draws, self._deviations)
            return np.asarray(self._background + self._embedded(coordinates))
        if self._root is None:
            return moved(embeddings, draws, self._deviations)
        normals = draws.normals
        turned = times_triangle(normals, self._root, draws.room("product", normals.shape))
        return moved(embeddings, draws._replace(normals=turned), self._ones)

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
        centre = ("what stands in for the unreleased axes is public and the same for every record",)
        return Guarantee(
            mechanism="mahalanobis",
            epsilon=self.epsilon,
            metric="Mahalanobis distance",
            distance=f"Mahalanobis distance of the veil's shape Σ, √((x − x′)ᵀ Σ⁻¹ (x − x′)){erased}",
            unit="the length of any u with uᵀ Σ⁻¹ u = 1; along an axis of Σ that is one standard deviation",
            assumptions=ASSUMPTIONS + (centre if unreleased else ()),
        )

    @cached_property
    def _released(self) -> NDArray[np.bool_]:
        return np.isfinite(self.variances)

    @cached_property
    def _whole(self) -> bool:
        """Whether every axis is released."""
        return bool(self._released.all())

    @cached_property
    def _few_axes(self) -> FewAxes | None:
        return None if self.axes is None else FewAxes.of(self.variances, self.axes, self.centre, epsilon=self.epsilon)

    @cached_property
    def _root(self) -> Matrix | None:
        """A matrix L with LLᵀ = Σ, where all axes are turned and released.

        Round noise looks the same from every side, so that any such L gives it the right shape. One that is zero above
        its diagonal takes half the work.
        """
        if self.axes is None:
            return None
        # By deviations: Σ itself has the squares of their ratios, and would lose twice as many digits.
        triangle: Matrix = np.asarray(np.linalg.qr((self.axes * self._deviations).T, mode="r"))
        return triangle.T

    @cached_property
    def _deviations(self) -> Vector:
        return np.sqrt(self.variances[self._released])

    @cached_property
    def _ones(self) -> Vector:
        return np.ones(self.variances.size)

    @cached_property
    def _background(self) -> Vector:
        """What every release holds along the unreleased axes."""
        centre = np.zeros(self.variances.size) if self.centre is None else self.centre
        return np.asarray(centre - self._embedded(self._coordinates(centre)))

    def _coordinates(self, vectors: Embeddings) -> Matrix:
        """Return the coordinates of `vectors` along the released axes."""
        if self.axes is None:
            return np.asarray(vectors[..., self._released], dtype=np.float64)
        return np.asarray(vectors @ self.axes[:, self._released], dtype=np.float64)

    def _embedded(self, coordinates: Matrix) -> Matrix:
        """Return the vectors that have `coordinates` along the released axes and nothing along the others."""
        if self.axes is not None:
            return np.asarray(coordinates @ self.axes[:, self._released].T)
        vectors = np.zeros((*coordinates.shape[:-1], self.variances.size))
        vectors[..., self._released] = coordinates
        return vectors


def times_triangle(rows: Matrix, triangle: Matrix, product: Matrix) -> Matrix:
    """Return rows · triangleᵀ, in `product`, without most of what is zero above the diagonal of `triangle`."""
    for start in range(0, len(triangle), STRIPE):
        stop = min(start + STRIPE, len(triangle))
        np.matmul(rows[:, :stop], triangle[start:stop, :stop].T, out=product[:, start:stop])
    return product
