"""What every mechanism must do."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self

import numpy as np

from vecveil.accounting import Guarantee
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError


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

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a noisy copy of `embeddings`, of the same type."""
        ...

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        """Return, row by row, the log density of releasing `released` when the input is `original`."""
        ...

    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        """Return, row by row, the distance that the guarantee is stated in."""
        ...

    def noise_ratio(self, signal: float) -> float:
        """Return the typical length of the noise divided by `signal`, the typical length of an embedding."""
        ...

    def guarantee(self) -> Guarantee:
        """Return what is promised, with its distance, unit and assumptions."""
        ...


ASSUMPTIONS = (
    "each record is released once; k releases with fresh noise add up to k times the loss",
    "the noise is drawn by the secure generator; real numbers are idealised: noise is drawn and added in float64, then "
    "rounded to the precision of the input",
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
