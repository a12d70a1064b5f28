"""Noise with density proportional to exp(-epsilon * ||z||), the base of the Laplace and Mahalanobis mechanisms."""

from __future__ import annotations

import math

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.mechanisms.chance import Chance
from vecveil.mechanisms.draws import Draws


def radii(dimensions: int, epsilon: float, chance: Chance) -> Vector:
    """Return the length of one independent draw for each row."""
    # The sphere's area grows as r^(dimensions - 1), so a density of exp(-epsilon * r) has a Gamma radius.
    return 1 / epsilon * chance.gammas(dimensions)


def spherical_noise(draws: Draws) -> Matrix:
    """Return noise with the directions and lengths of `draws`, in their place."""
    noise = draws.normals
    noise *= (draws.amounts / np.sqrt(np.vecdot(noise, noise)))[:, np.newaxis]
    return noise


def spherical_log_density(norms: Vector, dimensions: int, epsilon: float) -> Vector:
    """Return the log density at points of the given norms."""
    constant = dimensions * math.log(epsilon) - math.lgamma(dimensions) - log_sphere_area(dimensions)
    return constant - epsilon * norms


def log_sphere_area(dimensions: int) -> float:
    """Return the log of the surface area of the unit sphere in a space of `dimensions` dimensions."""
    return math.log(2) + dimensions / 2 * math.log(math.pi) - math.lgamma(dimensions / 2)
