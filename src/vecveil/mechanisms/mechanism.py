"""What every mechanism must do."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np

from vecveil.accounting import Guarantee, PrivacyProfile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms.chance import Chance
from vecveil.mechanisms.draws import Draws


class Mechanism(Protocol):
    """Perturbs vectors, knows the density it perturbs them with, and states its guarantee."""

    takes_shape: ClassVar[bool]
    """Whether the noise can differ from axis to axis."""

    @property
    def epsilon(self) -> float:
        """Privacy loss per unit of the mechanism's distance."""
        ...

    @classmethod
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, centre: Vector | None) -> Self:
        """Return the mechanism for a noise shape, or raise where it can't follow that shape."""
        ...

    @property
    def width(self) -> int:
        """Number of standard normals that each row of a release takes."""
        ...

    def amounts(self, chance: Chance) -> Vector:
        """Return what else it takes: one number for each row, a factor for the normals or an angle."""
        ...

    def release(self, embeddings: Embeddings, draws: Draws) -> Matrix:
        """Return `embeddings`, which are not checked here, with the noise of `draws`, in double precision.

        Threads call it at the same time, each with rows of its own.
        """
        ...

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a noisy copy of `embeddings`, of the same type, with noise from one generator.

        For tests and experiments: noise that can be repeated can be taken off again. In use, noise comes from streams.
        """
        ...

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        """Return, row by row, the log density of releasing `released` when the input is `original`."""
        ...

    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        """Return, row by row, the distance that the guarantee is stated in."""
        ...

    def euclidean_loss(self) -> float:
        """Return the largest privacy loss per unit of Euclidean distance, in which different mechanisms add up."""
        ...

    def released_length(self, signal: float) -> float:
        """Return the typical length of the release of an embedding of length `signal`."""
        ...

    def noise_ratio(self, signal: float) -> float:
        """Return the typical length of the noise divided by `signal`, the typical length of an embedding."""
        ...

    def profile(self, distance: float) -> PrivacyProfile:
        """Return the exact privacy profile of two inputs at that distance."""
        ...

    def guarantee(self) -> Guarantee:
        """Return what is promised, with its distance, unit and assumptions."""
        ...


ASSUMPTIONS = (
    "each record is released once; k releases with fresh noise add up to k times the loss",
    "the noise comes from secure streams, or from a key that no one else has; real numbers are idealised: noise is "
    "drawn and added in float64",
    "the shape was chosen without looking at the record that is released",
)
"""What every mechanism here needs."""


def require_uniform(name: str, variances: Vector) -> int:
    """Return the number of dimensions, or raise unless `variances` ask for the same unit noise along every axis."""
    if not np.allclose(variances, 1.0):
        raise InvalidInputError(
            f"{name} adds the same noise along every axis, but the shape has variances from "
            f"{variances.min():.3g} to {variances.max():.3g}; use the mahalanobis mechanism, or the uniform shape"
        )
    return int(variances.size)
