"""The contract of mechanisms, and the registry that holds them by name."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np

from vecveil.accounting import Guarantee, PrivacyProfile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import embeddings as checked
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import RandomRows
from vecveil.core.registry import Registry


class Mechanism(Protocol):
    """Perturbs vectors, knows the density it perturbs them with, and states its guarantee."""

    takes_shape: ClassVar[bool]
    """Whether the noise can differ from axis to axis."""

    @property
    def epsilon(self) -> float:
        """Privacy loss per unit of the mechanism's distance."""

    @classmethod
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, center: Vector | None) -> Self:
        """Return the mechanism for a noise shape, or raise where it can't follow that shape."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a noisy copy of `embeddings` in double precision, with the numbers of one row of `random` for each."""

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        """Return, row by row, the log density of releasing `released` when the input is `original`."""

    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        """Return, row by row, the distance that the guarantee is stated in."""

    def euclidean_loss(self) -> float:
        """Return the largest privacy loss per unit of Euclidean distance, in which different mechanisms add up."""

    def released_length(self, signal: float) -> float:
        """Return the typical length of the release of an embedding of length `signal`."""

    def noise_ratio(self, signal: float) -> float:
        """Return the typical length of the noise divided by `signal`, the typical length of an embedding."""

    def profile(self, distance: float) -> PrivacyProfile:
        """Return the exact privacy profile of two inputs at that distance."""

    def guarantee(self) -> Guarantee:
        """Return what is promised, with its distance, unit and assumptions."""


ASSUMPTIONS = (
    "each record is released once; k releases with fresh noise add up to k times the loss",
    "the noise comes from secure streams, or from a key that no one else has; real numbers are idealized: noise is "
    "drawn and added in float64",
    "the shape was chosen without looking at the record that is released",
)
"""What every mechanism here needs."""


def check_input(embeddings: Embeddings, random: RandomRows, *, dimensions: int) -> Embeddings:
    """Return `embeddings`, or raise unless each row has `dimensions` numbers and a row of random ones to itself."""
    clean = checked(embeddings, dimensions=dimensions)
    # NumPy would give the noise of a single row to all: their differences would be released in clear.
    if len(random) != len(clean):
        raise InvalidInputError(
            f"each vector needs random numbers of its own, got {len(random)} rows of them for {len(clean)} vectors"
        )
    return clean


def require_uniform(name: str, variances: Vector) -> int:
    """Return the number of dimensions, or raise unless `variances` ask for the same unit noise along every axis."""
    if not np.allclose(variances, 1.0):
        raise InvalidInputError(
            f"{name} adds the same noise along every axis, but the shape has variances from "
            f"{variances.min():.3g} to {variances.max():.3g}; use the mahalanobis mechanism, or the uniform shape"
        )
    return int(variances.size)


MECHANISMS: Registry[type[Mechanism]] = Registry(
    kind="mechanism",
    builtin={
        "laplace": "vecveil.mechanisms.laplace:LaplaceMechanism",
        "mahalanobis": "vecveil.mechanisms.mahalanobis:MahalanobisMechanism",
        "purkayastha": "vecveil.mechanisms.purkayastha:PurkayasthaMechanism",
    },
    group="vecveil.mechanisms",
)
