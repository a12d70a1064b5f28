"""Each sampler against its density.

Every test below draws with a fixed seed, so it passes or fails for good. With fresh seeds a right sampler would fail
each of them with a probability of at most FALSE_ALARM: each p-value is held against FALSE_ALARM over the number of
p-values in its test.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism
from vecveil.testing.samplers import elliptical_pvalues, purkayastha_pvalues
from vecveil.testing.selftest.canaries.directional import (
    AlwaysOneSide,
    AngleBySide,
    FlatAngle,
    SharedSide,
    VonMisesFisher,
    WrongDimension,
)
from vecveil.testing.selftest.canaries.elliptical import (
    Antithetic,
    ClippedTails,
    IgnoredVariances,
    PerCoordinate,
    Renormalised,
    RepeatedHalf,
    SharedBetweenNeighbours,
    SharedRadius,
    TooLittleNoise,
    TransposedAxes,
    TwinAxes,
    WrongGammaShape,
)
from vecveil.testing.selftest.subjects import turned, uneven

FALSE_ALARM = 1e-3
DIMENSIONS = (2, 3, 16, 128, 768, 4096)
ELLIPTICAL = (WrongGammaShape, TooLittleNoise, Renormalised, PerCoordinate, IgnoredVariances, SharedRadius)
DIRECTIONAL = (FlatAngle, WrongDimension, AlwaysOneSide, SharedSide, AngleBySide, VonMisesFisher)


def passes(pvalues: Mapping[str, float]) -> bool:
    return min(pvalues.values()) > FALSE_ALARM / len(pvalues)


def rows_for(dimensions: int) -> int:
    return 20_000 if dimensions <= 128 else 4_000 if dimensions <= 768 else 1_500


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("epsilon", [0.5, 300.0])
def test_laplace_noise_has_its_law(dimensions: int, epsilon: float) -> None:
    mechanism = LaplaceMechanism(epsilon=epsilon, dimensions=dimensions)
    rng = np.random.default_rng(11)
    assert passes(elliptical_pvalues(mechanism, variances=np.ones(dimensions), rows=rows_for(dimensions), rng=rng))


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("unreleased", [0, 1])
def test_mahalanobis_noise_has_its_law(dimensions: int, rotated: bool, unreleased: int) -> None:
    variances = uneven(dimensions)
    variances[:unreleased] = np.inf
    axes = turned(dimensions) if rotated else None
    mechanism = MahalanobisMechanism(epsilon=7.0, variances=variances, axes=axes)
    rng = np.random.default_rng(12)
    rows = rows_for(dimensions)
    assert passes(elliptical_pvalues(mechanism, variances=variances, axes=axes, rows=rows, rng=rng))


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("epsilon", [1e-3, 40.0, 620.0, 1e5])
def test_purkayastha_directions_have_their_law(dimensions: int, epsilon: float) -> None:
    mechanism = PurkayasthaMechanism(epsilon=epsilon, dimensions=dimensions)
    rng = np.random.default_rng(13)
    assert passes(purkayastha_pvalues(mechanism, dimensions=dimensions, rows=rows_for(dimensions), rng=rng))


@pytest.mark.parametrize("dimensions", [16, 128, 768])
def test_axes_the_wrong_way_round_are_caught(dimensions: int) -> None:
    axes, variances = turned(dimensions), uneven(dimensions)
    wrong = TransposedAxes(epsilon=7.0, variances=variances, axes=axes)
    rng = np.random.default_rng(16)
    assert not passes(elliptical_pvalues(wrong, variances=variances, axes=axes, rows=rows_for(dimensions), rng=rng))


@pytest.mark.parametrize("dimensions", [2, 16, 128, 768])
@pytest.mark.parametrize("broken", [SharedBetweenNeighbours, RepeatedHalf, Antithetic])
def test_rows_that_share_noise_are_caught(dimensions: int, broken: type[MahalanobisMechanism]) -> None:
    variances = uneven(dimensions)
    mechanism = broken(epsilon=7.0, variances=variances)
    rows = rows_for(dimensions)
    pvalues = elliptical_pvalues(mechanism, variances=variances, rows=rows, rng=np.random.default_rng(17))
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", [16, 128, 768])
@pytest.mark.parametrize("broken", [ClippedTails, TwinAxes])
def test_numbers_that_are_not_independent_normals_are_caught(
    dimensions: int, broken: type[MahalanobisMechanism]
) -> None:
    variances = uneven(dimensions)
    mechanism = broken(epsilon=7.0, variances=variances)
    rows = rows_for(dimensions)
    pvalues = elliptical_pvalues(mechanism, variances=variances, rows=rows, rng=np.random.default_rng(18))
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("broken", ELLIPTICAL)
def test_a_broken_elliptical_sampler_is_caught(dimensions: int, broken: type[MahalanobisMechanism]) -> None:
    variances = uneven(dimensions)
    mechanism = broken(epsilon=7.0, variances=variances)
    rows = rows_for(dimensions)
    pvalues = elliptical_pvalues(mechanism, variances=variances, rows=rows, rng=np.random.default_rng(14))
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", [3, 16, 128, 768])
@pytest.mark.parametrize("broken", DIRECTIONAL)
def test_a_broken_directional_sampler_is_caught(dimensions: int, broken: type[PurkayasthaMechanism]) -> None:
    mechanism = broken(epsilon=40.0, dimensions=dimensions)
    rows = 4 * rows_for(dimensions)
    pvalues = purkayastha_pvalues(mechanism, dimensions=dimensions, rows=rows, rng=np.random.default_rng(15))
    assert not passes(pvalues), pvalues


def test_right_samplers_are_rarely_called_broken() -> None:
    """The stated rate of false alarms, measured: p-values of a right sampler are uniform."""
    mechanism = MahalanobisMechanism(epsilon=7.0, variances=uneven(16))
    smallest = [
        min(pvalues.values()) * len(pvalues)
        for seed in range(200)
        if (pvalues := elliptical_pvalues(mechanism, variances=uneven(16), rows=500, rng=np.random.default_rng(seed)))
    ]
    # Of 200 tests at a level of 5 % at most 10 should fail; 20 or more would happen once in 500 runs.
    assert sum(value < 0.05 for value in smallest) < 20
