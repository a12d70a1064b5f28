"""Noise with density proportional to exp(-epsilon * ||z||)."""

from __future__ import annotations

import math

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.randomness import RandomRows, draw_gammas


def spherical_noise(random: RandomRows, dimensions: int, epsilon: float, *, columns: int | None = None) -> Matrix:
    """Return one independent draw for each row.

    The sphere's area grows as r^(n - 1), so a density of exp(-epsilon * r) has a radius of the law Γ(n)/ε. That is the
    law of ‖g‖·‖h‖/ε for standard normals g in n dimensions and h in n + 1, by the duplication formula of the gamma
    function (docs/shape-proofs.md). So a draw is g times ‖h‖/ε, and ‖h‖² is twice a number of the law Γ((n + 1)/2).

    Args:
        random: Where the numbers come from.
        dimensions: n, the dimensions of the space that the noise is in.
        epsilon: Its parameter.
        columns: Coordinates to draw; more than `dimensions` for noise that is projected onto a subspace afterwards.
    """
    noise = random.normals(columns or dimensions)
    noise *= (np.sqrt(2 * draw_gammas(random, (dimensions + 1) / 2)) / epsilon)[:, np.newaxis]
    return noise


def spherical_log_density(norms: Vector, dimensions: int, epsilon: float) -> Vector:
    """Return the log density at points of the given norms."""
    constant = dimensions * math.log(epsilon) - math.lgamma(dimensions) - log_sphere_area(dimensions)
    return constant - epsilon * norms


def log_sphere_area(dimensions: int) -> float:
    """Return the log of the surface area of the unit sphere in a space of `dimensions` dimensions."""
    return math.log(2) + dimensions / 2 * math.log(math.pi) - math.lgamma(dimensions / 2)
