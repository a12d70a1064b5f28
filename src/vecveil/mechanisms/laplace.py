"""Spherical noise, the same in every direction: the generalised Laplace mechanism (LapMech)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from vecveil.accounting import Guarantee, PrivacyProfile, additive_profile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import at_least, budget, positive
from vecveil.core.checks import embeddings as checked
from vecveil.mechanisms.chance import Chance
from vecveil.mechanisms.draws import Draws, generator_draws, require_fit
from vecveil.mechanisms.mechanism import ASSUMPTIONS, require_uniform
from vecveil.mechanisms.spherical import factors, moved, spherical_log_density


@dataclass(frozen=True, kw_only=True)
class LaplaceMechanism:
    """Add noise z with density proportional to exp(-epsilon * ||z||), in Euclidean norm.

    Attributes:
        epsilon: Privacy loss per unit of Euclidean distance; smaller is more private.
        dimensions: Length of a vector.
    """

    epsilon: float
    dimensions: int

    takes_shape: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon))
        at_least(self.dimensions, 1, "dimensions")

    @classmethod
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, centre: Vector | None) -> Self:
        """Return the mechanism for a uniform shape; axes and centre make no difference to it."""
        del axes, centre
        return cls(epsilon=epsilon, dimensions=require_uniform("laplace", variances))

    @property
    def width(self) -> int:
        """Number of standard normals of each row."""
        return self.dimensions

    def amounts(self, chance: Chance) -> Vector:
        """Return by what the normals of each row are multiplied."""
        return factors(self.dimensions, self.epsilon, chance)

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a noisy copy of `embeddings`."""
        clean = checked(embeddings, dimensions=self.dimensions)
        return self.release(clean, generator_draws(self, clean.shape[0], rng)).astype(clean.dtype, copy=False)

    def release(self, embeddings: Embeddings, draws: Draws) -> Matrix:
        """Return `embeddings` with the noise of `draws`, in double precision."""
        require_fit(self, self.dimensions, embeddings, draws)
        return moved(embeddings, draws, self._deviations)

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        """Return, row by row, the log density of releasing `released` when the input is `original`."""
        return spherical_log_density(self.distance(released, original), self.dimensions, self.epsilon)

    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        """Return, row by row, the Euclidean distance."""
        return np.asarray(np.linalg.norm(np.asarray(first, dtype=np.float64) - second, axis=-1))

    def euclidean_loss(self) -> float:
        """Return the largest loss per unit of Euclidean distance: epsilon itself."""
        return self.epsilon

    def released_length(self, signal: float) -> float:
        """Return the root mean square length of the release of an embedding of length `signal`."""
        return signal * math.hypot(1.0, self.noise_ratio(signal))

    def noise_ratio(self, signal: float) -> float:
        """Return the root mean square length of the noise divided by `signal`."""
        return math.sqrt(self.dimensions * (self.dimensions + 1)) / self.epsilon / positive(signal, "signal")

    def profile(self, distance: float) -> PrivacyProfile:
        """Return the exact privacy profile of two inputs at that Euclidean distance."""
        return additive_profile(epsilon=self.epsilon, dimensions=self.dimensions, distance=distance)

    def guarantee(self) -> Guarantee:
        """Return the promise in Euclidean distance."""
        return Guarantee(
            mechanism="laplace",
            epsilon=self.epsilon,
            metric="Euclidean distance",
            distance="Euclidean distance between embeddings, ‖x − x′‖₂",
            unit="the length of a unit vector",
            assumptions=ASSUMPTIONS,
        )

    @cached_property
    def _deviations(self) -> Vector:
        return np.ones(self.dimensions)
