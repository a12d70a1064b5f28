"""Noise with density proportional to exp(-epsilon * ||z||), the base of the Laplace and Mahalanobis mechanisms."""

from __future__ import annotations

import math

from vecveil.core.arrays import Embeddings, Matrix, Vector, in_one_piece
from vecveil.core.late import loops
from vecveil.mechanisms.chance import Chance
from vecveil.mechanisms.draws import Draws


def factors(dimensions: int, epsilon: float, chance: Chance) -> Vector:
    """Return, for each row, the number whose product with so many standard normals is one independent draw.

    The sphere's area grows as r^(n - 1), so the radius of a draw has the law Γ(n)/ε. By the duplication formula of the
    gamma function so has 2√(AB)/ε, for A of Γ(n/2) and B of Γ((n + 1)/2), and the length of n normals is √(2A). So
    √(2B)/ε is the factor: their length need not be looked at.
    """
    numbers = chance.gammas((dimensions + 1) / 2)
    loops().take_roots(numbers, math.sqrt(2) / epsilon)
    return numbers


def moved(embeddings: Embeddings, draws: Draws, deviations: Vector) -> Matrix:
    """Return `embeddings` with the noise of `draws`, times a deviation for each coordinate."""
    noisy = draws.room("noisy", embeddings.shape)
    loops().move(in_one_piece(embeddings), draws.normals, draws.amounts, deviations, noisy)
    return noisy


def spherical_log_density(norms: Vector, dimensions: int, epsilon: float) -> Vector:
    """Return the log density at points of the given norms."""
    constant = dimensions * math.log(epsilon) - math.lgamma(dimensions) - log_sphere_area(dimensions)
    return constant - epsilon * norms


def log_sphere_area(dimensions: int) -> float:
    """Return the log of the surface area of the unit sphere in a space of `dimensions` dimensions."""
    return math.log(2) + dimensions / 2 * math.log(math.pi) - math.lgamma(dimensions / 2)
