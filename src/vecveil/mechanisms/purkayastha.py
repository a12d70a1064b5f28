"""Directional noise on the sphere: the Purkayastha mechanism (PurMech)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from vecveil.accounting import Guarantee, PrivacyProfile, angular_profile
from vecveil.core.arrays import Embeddings, Matrix, Vector, in_one_piece
from vecveil.core.checks import at_least, budget, positive
from vecveil.core.checks import embeddings as checked
from vecveil.core.late import loops
from vecveil.mechanisms.angle import AngleDistribution
from vecveil.mechanisms.chance import Chance
from vecveil.mechanisms.draws import Draws, generator_draws, require_fit
from vecveil.mechanisms.mechanism import ASSUMPTIONS, require_uniform
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
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, centre: Vector | None) -> Self:
        """Return the mechanism for a uniform shape; axes and centre make no difference to it."""
        del axes, centre
        return cls(epsilon=epsilon, dimensions=require_uniform("purkayastha", variances))

    @property
    def width(self) -> int:
        """Number of standard normals of each row."""
        return self.dimensions

    def amounts(self, chance: Chance) -> Vector:
        """Return the angle by which each row is turned."""
        return self._angle.sample(chance)

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return unit vectors around the directions of `embeddings`."""
        clean = checked(embeddings, dimensions=self.dimensions)
        return self.release(clean, generator_draws(self, clean.shape[0], rng)).astype(clean.dtype, copy=False)

    def release(self, embeddings: Embeddings, draws: Draws) -> Matrix:
        """Return the directions of `embeddings`, turned by the angles of `draws`, in double precision."""
        require_fit(self, self.dimensions, embeddings, draws)
        loops().turn(draws.normals, draws.amounts, in_one_piece(embeddings))
        return draws.normals

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        """Return, row by row, the log density on the unit sphere."""
        log_total = self._angle.log_normaliser + log_sphere_area(self.dimensions - 1)
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
        del signal
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
    values /= _lengths(values)[..., np.newaxis]
    return values


def _lengths(vectors: Matrix) -> Vector:
    return np.asarray(np.sqrt(np.vecdot(vectors, vectors)))
