"""Spherical noise, the same in every direction: the generalized Laplace mechanism (LapMech)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from vecveil.accounting import Guarantee, PrivacyProfile, additive_profile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import at_least, budget, positive
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms.mechanism import ASSUMPTIONS, check_input, require_uniform
from vecveil.mechanisms.spherical import spherical_log_density, spherical_noise


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
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, center: Vector | None) -> Self:
        """Return the mechanism for a uniform shape; axes and center make no difference to it."""
        return cls(epsilon=epsilon, dimensions=require_uniform("laplace", variances))

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a noisy copy of `embeddings`."""
        clean = check_input(embeddings, random, dimensions=self.dimensions)
        return clean + spherical_noise(random, self.dimensions, self.epsilon)

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
