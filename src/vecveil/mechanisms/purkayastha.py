"""Directional noise on the sphere: the Purkayastha mechanism (PurMech)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from vecveil.accounting import Guarantee, PrivacyProfile, angular_profile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import at_least, budget, positive
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms.angle import AngleDistribution
from vecveil.mechanisms.mechanism import ASSUMPTIONS, check_input, require_uniform
from vecveil.mechanisms.spherical import log_sphere_area


@dataclass(frozen=True, kw_only=True)
class PurkayasthaMechanism:
    """Release a unit vector y with density proportional to exp(-epsilon * angle(x, y)) on the sphere.

    Only the direction of an embedding is used; its length is not released.

    Attributes:
        epsilon: Privacy loss per radian; smaller is more private.
        dimensions: Length of a vector, at least 2.
    """

    epsilon: float
    dimensions: int

    takes_shape: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget(self.epsilon))
        at_least(self.dimensions, 2, "dimensions")

    @classmethod
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, center: Vector | None) -> Self:
        """Return the mechanism for a uniform shape; axes and center make no difference to it."""
        return cls(epsilon=epsilon, dimensions=require_uniform("purkayastha", variances))

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return unit vectors around the directions of `embeddings`."""
        directions = _unit(check_input(embeddings, random, dimensions=self.dimensions))
        sideways = random.normals(self.dimensions)
        # What points along the direction goes; a second time, for what rounding leaves where nearly all of it did.
        for _ in range(2):
            sideways -= np.vecdot(sideways, directions)[:, np.newaxis] * directions
            sideways /= _lengths(sideways)
        angles = self._angle.sample(random)[:, np.newaxis]
        return np.asarray(np.cos(angles) * directions + np.sin(angles) * sideways)

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        """Return, row by row, the log density on the unit sphere."""
        log_total = self._angle.log_normalizer + log_sphere_area(self.dimensions - 1)
        return -self.epsilon * self.distance(released, original) - log_total

    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        """Return, row by row, the angle in radians."""
        one, other = _unit(np.asarray(first)), _unit(np.asarray(second))
        # arccos of a dot product loses half the digits near 0 and π; this form loses none.
        return np.asarray(2 * np.arctan2(np.linalg.norm(one - other, axis=-1), np.linalg.norm(one + other, axis=-1)))

    def euclidean_loss(self) -> float:
        """Return the largest loss per unit of Euclidean distance between directions: an angle is at most π/2 chords."""
        return self.epsilon * math.pi / 2

    def released_length(self, signal: float) -> float:
        """Return the length of a release, which is one whatever the embedding's."""
        return 1.0

    def noise_ratio(self, signal: float) -> float:
        """Return the length of additive sideways noise that would turn a vector as far, in units of its length."""
        positive(signal, "signal")
        shortfall = self._angle.mean_shortfall
        cosine = 1 - shortfall
        return math.sqrt(shortfall * (1 + cosine)) / cosine if cosine > 1e-12 else math.inf

    def profile(self, distance: float) -> PrivacyProfile:
        """Return the exact privacy profile of two inputs at that angle."""
        return angular_profile(epsilon=self.epsilon, dimensions=self.dimensions, angle=distance)

    def guarantee(self) -> Guarantee:
        """Return the promise in angular distance."""
        return Guarantee(
            mechanism="purkayastha",
            epsilon=self.epsilon,
            metric="angle",
            distance="angle between embeddings, arccos(xᵀx′ / ‖x‖‖x′‖)",
            unit="one radian",
            assumptions=(*ASSUMPTIONS, "only directions are released; the lengths of the embeddings are not"),
        )

    @cached_property
    def _angle(self) -> AngleDistribution:
        return AngleDistribution(epsilon=self.epsilon, dimensions=self.dimensions)


def _unit(vectors: Embeddings) -> Matrix:
    values = np.array(vectors, dtype=np.float64)
    # By the largest coordinate first: squares of huge or tiny numbers are no numbers.
    values /= np.abs(values).max(axis=-1, keepdims=True)
    values /= _lengths(values)
    return values


def _lengths(vectors: Matrix) -> Matrix:
    return np.asarray(np.sqrt(np.vecdot(vectors, vectors)))[..., np.newaxis]
