"""Exact profiles against releases of the real mechanisms.

Each test draws with a fixed seed, so it passes or fails for good. With fresh seeds a right profile would leave the
stated band of five standard errors about once in two million times for each number that is compared.
"""

from __future__ import annotations

import numpy as np
import pytest

from vecveil.accounting import PrivacyProfile, additive_profile, angular_profile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.randomness import SeededRows
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism

DIMENSIONS = (2, 8, 384, 768)
STANDARD_ERRORS = 5.0
ROWS = 20_000


def losses(mechanism: Mechanism, first: Embeddings, second: Embeddings, *, seed: int, rows: int = ROWS) -> Vector:
    """The privacy losses of `rows` releases of `first` against `second`, from the mechanism's own density."""
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(0, rows, 2_000):
        one, other = (np.broadcast_to(vector, (2_000, vector.size)) for vector in (first, second))
        released = mechanism.perturb(np.array(one), SeededRows(rng, len(one)))
        parts.append(mechanism.log_density(released, one) - mechanism.log_density(released, other))
    return np.concatenate(parts)


def departure(seen: Vector, profile: PrivacyProfile) -> float:
    """The largest distance, in standard errors, of the simulated delta from the profile's at four epsilons."""
    found = []
    for epsilon in (0.0, *(profile.epsilon(delta) for delta in (0.3, 0.1, 0.02))):
        excess = np.maximum(0, -np.expm1(np.minimum(0, epsilon - seen)))
        error = max(float(excess.std()) / np.sqrt(seen.size), 1e-12)
        found.append(abs(float(excess.mean()) - profile.delta(epsilon)) / error)
    return max(found)


def pair(dimensions: int, *, seed: int, length: float = 0.6) -> tuple[Vector, Vector]:
    """A unit vector and another at the given distance from it."""
    rng = np.random.default_rng(seed)
    first, difference = (vector / np.linalg.norm(vector) for vector in rng.standard_normal((2, dimensions)))
    return first, first + length * difference


def at_the_distance_of(mechanism: Mechanism, first: Vector, second: Vector) -> float:
    return float(mechanism.distance(first[np.newaxis], second[np.newaxis])[0])


def turned(dimensions: int) -> Matrix:
    return np.linalg.qr(np.random.default_rng(3).standard_normal((dimensions, dimensions)))[0]


def uneven(dimensions: int, epsilon: float) -> MahalanobisMechanism:
    """Rotated elliptical noise that leaves a quarter of the axes unreleased."""
    variances = np.geomspace(0.05, 5.0, dimensions)
    variances[: dimensions // 4] = np.inf
    return MahalanobisMechanism(
        epsilon=epsilon, variances=variances, axes=turned(dimensions), center=np.full(dimensions, 0.1)
    )


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_laplace_noise_has_its_profile_and_no_other(dimensions: int) -> None:
    first, second = pair(dimensions, seed=31)
    epsilon = 2.5 * np.sqrt(dimensions)
    seen = losses(LaplaceMechanism(epsilon=epsilon, dimensions=dimensions), first, second, seed=41)
    assert departure(seen, additive_profile(epsilon=epsilon, dimensions=dimensions, distance=0.6)) < STANDARD_ERRORS
    # Wrong ones are caught: epsilon or the distance off by 5 %, a fifth more dimensions (one more where there are two).
    for wrong in (
        additive_profile(epsilon=1.05 * epsilon, dimensions=dimensions, distance=0.6),
        additive_profile(epsilon=epsilon, dimensions=dimensions, distance=0.95 * 0.6),
        additive_profile(epsilon=epsilon, dimensions=dimensions + max(1, dimensions // 5), distance=0.6),
    ):
        assert departure(seen, wrong) > STANDARD_ERRORS


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_elliptical_noise_has_the_profile_of_its_mahalanobis_distance_and_released_axes(dimensions: int) -> None:
    first, second = pair(dimensions, seed=32)
    released = dimensions - dimensions // 4
    distance = at_the_distance_of(uneven(dimensions, 1.0), first, second)
    epsilon = 1.5 * np.sqrt(released) / distance
    seen = losses(uneven(dimensions, epsilon), first, second, seed=42)
    right = additive_profile(epsilon=epsilon, dimensions=released, distance=distance)
    assert departure(seen, right) < STANDARD_ERRORS
    off = additive_profile(epsilon=1.05 * epsilon, dimensions=released, distance=distance)
    euclidean = additive_profile(epsilon=epsilon, dimensions=released, distance=0.6)
    assert min(departure(seen, off), departure(seen, euclidean)) > STANDARD_ERRORS
    if released < dimensions:
        every_axis = additive_profile(epsilon=epsilon, dimensions=dimensions, distance=distance)
        assert departure(seen, every_axis) > STANDARD_ERRORS


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("length", [0.6, 1.9])
def test_purkayastha_directions_have_their_profile_and_no_other(dimensions: int, length: float) -> None:
    first, _ = pair(dimensions, seed=33)
    _, sideways = pair(dimensions, seed=34)
    sideways -= (sideways @ first) * first
    second = np.cos(length) * first + np.sin(length) * sideways / np.linalg.norm(sideways)
    mechanism = PurkayasthaMechanism(epsilon=1.5 * np.sqrt(dimensions) / length, dimensions=dimensions)
    angle = at_the_distance_of(mechanism, first, second)
    assert angle == pytest.approx(length)
    seen = losses(mechanism, first, second, seed=43)
    epsilon = mechanism.epsilon
    right = angular_profile(epsilon=epsilon, dimensions=dimensions, angle=angle)
    assert departure(seen, right) < STANDARD_ERRORS
    for wrong in (
        angular_profile(epsilon=1.05 * epsilon, dimensions=dimensions, angle=angle),
        angular_profile(epsilon=epsilon, dimensions=dimensions + max(1, dimensions // 5), angle=angle),
    ):
        assert departure(seen, wrong) > STANDARD_ERRORS


@pytest.mark.parametrize("releases", [2, 8])
@pytest.mark.parametrize(("name", "dimensions"), [("laplace", 2), ("laplace", 384), ("purkayastha", 8)])
def test_several_releases_have_the_composed_profile(name: str, dimensions: int, releases: int) -> None:
    first, second = pair(dimensions, seed=35)
    epsilon = 2.5 * np.sqrt(dimensions / releases)
    mechanism = MECHANISMS.load(name).for_shape(epsilon=epsilon, variances=np.ones(dimensions), axes=None, center=None)
    seen = losses(mechanism, first, second, seed=44, rows=releases * ROWS).reshape(releases, -1).sum(axis=0)
    distance = at_the_distance_of(mechanism, first, second)

    def single(epsilon: float) -> PrivacyProfile:
        if name == "laplace":
            return additive_profile(epsilon=epsilon, dimensions=dimensions, distance=distance)
        return angular_profile(epsilon=epsilon, dimensions=dimensions, angle=distance)

    assert departure(seen, single(epsilon).compose(releases)) < STANDARD_ERRORS
    assert departure(seen, single(1.05 * epsilon).compose(releases)) > STANDARD_ERRORS
    assert departure(seen, single(epsilon)) > STANDARD_ERRORS
