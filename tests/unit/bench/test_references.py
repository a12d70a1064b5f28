"""A reference that did something else would be no reference: each must have the law of what it is compared with."""

from __future__ import annotations

import numpy as np
from scipy import stats

from vecveil.bench.references import (
    algorithm_one,
    algorithm_one_diagonal,
    alloy_encryption,
    diffprivlib_vector,
    drawn_normals,
    purkayastha_by_bisection,
)
from vecveil.bench.subjects import unit_vectors
from vecveil.mechanisms.angle import AngleDistribution
from vecveil.mechanisms.chance import GeneratorChance

ROWS = 2000


def test_algorithm_one_has_its_radius_and_its_shape_in_both_readings() -> None:
    deviations = np.array([0.5, 1.0, 2.0])
    point = np.ones(3)
    for release in (
        algorithm_one(np.diag(deviations), 4.0, np.random.default_rng(0)),
        algorithm_one_diagonal(deviations, 4.0, np.random.default_rng(0)),
    ):
        whitened = np.array([release(point) - point for _ in range(ROWS)]) / deviations
        radii = np.linalg.norm(whitened, axis=1)
        assert stats.kstest(radii, stats.gamma(3, scale=0.25).cdf).pvalue > 1e-6
        assert np.abs((whitened / radii[:, np.newaxis]).mean(axis=0)).max() < 6 / np.sqrt(3 * ROWS)


def test_purkayastha_by_bisection_turns_as_far_as_ours() -> None:
    point = np.eye(6)[0]
    release = purkayastha_by_bisection(6, 5.0, np.random.default_rng(0))
    released = np.array([release(point) for _ in range(200)])
    np.testing.assert_allclose(np.linalg.norm(released, axis=1), 1)
    ours = AngleDistribution(epsilon=5.0, dimensions=6).sample(GeneratorChance(np.random.default_rng(1), 5000))
    assert stats.ks_2samp(np.arccos(released[:, 0]), ours).pvalue > 1e-6


def test_diffprivlib_moves_a_vector_in_every_direction() -> None:
    point = np.ones(4)
    release = diffprivlib_vector(4, 20.0, 0)
    noise = np.array([release(point) - point for _ in range(500)])
    assert np.linalg.norm(noise, axis=1).min() > 0
    assert np.abs(noise.mean(axis=0)).max() < 6 * noise.std() / np.sqrt(500)
    assert not np.array_equal(diffprivlib_vector(4, 20.0, None)(point), diffprivlib_vector(4, 20.0, None)(point))


def test_alloy_encrypts_every_vector() -> None:
    assert "2" in str(alloy_encryption(unit_vectors(3, 8))())


def test_drawn_normals_are_as_many_as_the_noise_needs() -> None:
    normals = drawn_normals(3000, 37)
    assert normals.shape == (3000, 37)
    assert abs(normals.var() - 1) < 0.03
