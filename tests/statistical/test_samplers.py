"""Each sampler against its density.

Every test below draws with a fixed seed, so it passes or fails for good. With fresh seeds a right sampler would fail
each of them with a probability of at most FALSE_ALARM: each p-value is held against FALSE_ALARM over the number of
p-values in its test.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.randomness import KEY_BYTES, FreshRows
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism
from vecveil.testing.samplers import Perturb, elliptical_pvalues, purkayastha_pvalues
from vecveil.testing.selftest.canaries.samplers import (
    always_one_side,
    angle_by_side,
    antithetic,
    clipped_tails,
    flat_angle,
    ignored_variances,
    per_coordinate,
    renormalized_noise,
    repeated_half,
    shared_between_neighbors,
    shared_radius,
    shared_side,
    too_little_noise,
    transposed_axes,
    twin_axes,
    von_mises_fisher,
    wrong_dimension,
    wrong_gamma_shape,
)
from vecveil.testing.selftest.subjects import rotated_axes, uneven_variances

FALSE_ALARM = 1e-3
DIMENSIONS = (2, 3, 16, 128, 768, 4096)
ELLIPTICAL = (wrong_gamma_shape, too_little_noise, renormalized_noise, per_coordinate, ignored_variances, shared_radius)
DIRECTIONAL = (flat_angle, wrong_dimension, always_one_side, shared_side, angle_by_side, von_mises_fisher)


Found = Mapping[str, float]


def passes(pvalues: Found) -> bool:
    return min(pvalues.values()) > FALSE_ALARM / len(pvalues)


def elliptical(mechanism: Mechanism, variances: Vector, axes: Matrix | None = None, *, rows: int, seed: int) -> Found:
    """The p-values of noise from streams whose keys come from one seed."""
    epsilon = mechanism.epsilon
    return elliptical_pvalues(sampler(mechanism, seed), epsilon=epsilon, variances=variances, axes=axes, rows=rows)


def angular(mechanism: PurkayasthaMechanism, *, rows: int, seed: int) -> Found:
    return purkayastha_pvalues(
        sampler(mechanism, seed), epsilon=mechanism.epsilon, dimensions=mechanism.dimensions, rows=rows
    )


def sampler(mechanism: Mechanism, seed: int) -> Perturb:
    rng = np.random.default_rng(seed)
    return lambda vectors: mechanism.perturb(vectors, FreshRows(len(vectors), key=rng.bytes(KEY_BYTES)))


def rows_for(dimensions: int) -> int:
    return 20_000 if dimensions <= 128 else 4_000 if dimensions <= 768 else 1_500


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("epsilon", [0.5, 300.0])
def test_laplace_noise_has_its_law(dimensions: int, epsilon: float) -> None:
    mechanism = LaplaceMechanism(epsilon=epsilon, dimensions=dimensions)
    assert passes(elliptical(mechanism, np.ones(dimensions), rows=rows_for(dimensions), seed=11))


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("unreleased", [0, 1])
@pytest.mark.parametrize("even", [False, True])
def test_mahalanobis_noise_has_its_law(dimensions: int, rotated: bool, unreleased: int, even: bool) -> None:
    variances = np.full(dimensions, 0.5) if even else uneven_variances(dimensions)
    variances[:unreleased] = np.inf
    axes = rotated_axes(dimensions) if rotated else None
    mechanism = MahalanobisMechanism(epsilon=7.0, variances=variances, axes=axes)
    assert passes(elliptical(mechanism, variances, axes, rows=rows_for(dimensions), seed=12))


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("epsilon", [1e-3, 40.0, 620.0, 1e5])
def test_purkayastha_directions_have_their_law(dimensions: int, epsilon: float) -> None:
    mechanism = PurkayasthaMechanism(epsilon=epsilon, dimensions=dimensions)
    assert passes(angular(mechanism, rows=rows_for(dimensions), seed=13))


@pytest.mark.parametrize("dimensions", [16, 128, 768])
def test_axes_the_wrong_way_round_are_caught(dimensions: int) -> None:
    axes, variances = rotated_axes(dimensions), uneven_variances(dimensions)
    wrong = transposed_axes(epsilon=7.0, variances=variances, axes=axes)
    assert not passes(elliptical(wrong, variances, axes, rows=rows_for(dimensions), seed=16))


@pytest.mark.parametrize("dimensions", [2, 16, 128, 768])
@pytest.mark.parametrize("broken", [shared_between_neighbors, repeated_half, antithetic])
def test_rows_that_share_noise_are_caught(dimensions: int, broken: type[MahalanobisMechanism]) -> None:
    variances = uneven_variances(dimensions)
    pvalues = elliptical(broken(epsilon=7.0, variances=variances), variances, rows=rows_for(dimensions), seed=17)
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", [16, 128, 768])
@pytest.mark.parametrize("broken", [clipped_tails, twin_axes])
def test_numbers_that_are_not_independent_normals_are_caught(
    dimensions: int, broken: type[MahalanobisMechanism]
) -> None:
    variances = uneven_variances(dimensions)
    pvalues = elliptical(broken(epsilon=7.0, variances=variances), variances, rows=rows_for(dimensions), seed=18)
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("broken", ELLIPTICAL)
def test_a_broken_elliptical_sampler_is_caught(dimensions: int, broken: type[MahalanobisMechanism]) -> None:
    variances = uneven_variances(dimensions)
    pvalues = elliptical(broken(epsilon=7.0, variances=variances), variances, rows=rows_for(dimensions), seed=14)
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", [3, 16, 128, 768])
@pytest.mark.parametrize("broken", DIRECTIONAL)
def test_a_broken_directional_sampler_is_caught(dimensions: int, broken: type[PurkayasthaMechanism]) -> None:
    pvalues = angular(broken(epsilon=40.0, dimensions=dimensions), rows=4 * rows_for(dimensions), seed=15)
    assert not passes(pvalues), pvalues


def test_right_samplers_are_rarely_called_broken() -> None:
    """The stated rate of false alarms, measured: p-values of a right sampler are uniform."""
    variances = uneven_variances(16)
    mechanism = MahalanobisMechanism(epsilon=7.0, variances=variances)
    smallest = [
        min(pvalues.values()) * len(pvalues)
        for seed in range(200)
        if (pvalues := elliptical(mechanism, variances, rows=500, seed=seed))
    ]
    # Of 200 tests at a level of 5 % at most 10 should fail; 20 or more would happen once in 500 runs.
    assert sum(value < 0.05 for value in smallest) < 20
