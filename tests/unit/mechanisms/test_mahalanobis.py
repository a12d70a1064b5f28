from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms.draws import Draws
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism


def test_noise_follows_the_variances() -> None:
    mechanism = MahalanobisMechanism(epsilon=1.0, variances=np.array([4.0, 1.0]))
    noise = mechanism.perturb(np.ones((20_000, 2)), np.random.default_rng(0)) - 1
    assert noise[:, 0].std() / noise[:, 1].std() == pytest.approx(2.0, rel=0.05)


def test_unit_variances_are_laplace_noise() -> None:
    vectors = np.random.default_rng(0).standard_normal((5, 3))
    shaped = MahalanobisMechanism(epsilon=2.0, variances=np.ones(3)).perturb(vectors, np.random.default_rng(1))
    plain = LaplaceMechanism(epsilon=2.0, dimensions=3).perturb(vectors, np.random.default_rng(1))
    np.testing.assert_allclose(shaped, plain)


def test_the_density_integrates_to_one() -> None:
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=np.array([2.0, 0.3]))

    def density(first: float, second: float) -> float:
        return float(np.exp(mechanism.log_density(np.array([[first, second]]), np.zeros((1, 2))))[0])

    total, _ = integrate.dblquad(density, -12, 12, -8, 8, epsabs=1e-5)
    assert total == pytest.approx(1.0, abs=1e-3)


def test_an_unreleased_axis_holds_the_centre_and_nothing_else() -> None:
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    centre = np.array([1.0, 2.0, 3.0, 4.0])
    mechanism = MahalanobisMechanism(epsilon=5.0, variances=np.array([np.inf, 1.0, 1.0, 1.0]), axes=axes, centre=centre)
    released = mechanism.perturb(np.random.default_rng(1).standard_normal((50, 4)), np.random.default_rng(2))
    np.testing.assert_allclose(released @ axes[:, 0], centre @ axes[:, 0])


def test_pairs_that_differ_along_an_unreleased_axis_alone_lose_nothing() -> None:
    mechanism = MahalanobisMechanism(epsilon=5.0, variances=np.array([np.inf, 1.0]))
    first, second = np.array([[7.0, 1.0]]), np.array([[-7.0, 1.0]])
    assert mechanism.distance(first, second)[0] == 0
    one, other = (mechanism.perturb(vectors, np.random.default_rng(0)) for vectors in (first, second))
    assert np.array_equal(one, other)


def test_the_released_part_keeps_its_signal() -> None:
    mechanism = MahalanobisMechanism(epsilon=1e9, variances=np.array([np.inf, 1.0, 2.0]))
    vectors = np.random.default_rng(0).standard_normal((5, 3))
    released = mechanism.perturb(vectors, np.random.default_rng(0))
    np.testing.assert_allclose(released[:, 1:], vectors[:, 1:], atol=1e-6)
    assert not released[:, 0].any()


def test_the_noise_ratio_is_the_root_mean_square() -> None:
    mechanism = MahalanobisMechanism(epsilon=20.0, variances=np.array([3.0, 1.0, 0.5, np.inf]))
    vectors = np.full((200_000, 4), 1.0)
    noise = (mechanism.perturb(vectors, np.random.default_rng(0)) - vectors)[:, :3]
    assert mechanism.noise_ratio(2.0) == pytest.approx(np.sqrt((noise**2).sum(axis=1).mean()) / 2, rel=0.01)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), "8"])
def test_an_epsilon_that_is_no_budget_is_refused(epsilon: object) -> None:
    with pytest.raises(InvalidInputError, match="epsilon must be"):
        MahalanobisMechanism(epsilon=epsilon, variances=np.ones(2))


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="variances must be above zero"):
        MahalanobisMechanism(epsilon=1.0, variances=np.array([1.0, 0.0]))
    with pytest.raises(InvalidInputError, match="axes must"):
        MahalanobisMechanism(epsilon=1.0, variances=np.ones(2), axes=2 * np.eye(2))
    with pytest.raises(InvalidInputError, match="centre must"):
        MahalanobisMechanism(epsilon=1.0, variances=np.ones(2), centre=np.ones(3))


@pytest.mark.parametrize("decades", [2, 6, 10])
def test_a_rotated_shape_keeps_its_shape_however_uneven(decades: int) -> None:
    """A root that loses the narrow axes would add less noise along them than is promised."""
    dimensions = 24
    axes, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((dimensions, dimensions)))
    variances = np.logspace(-decades, decades, dimensions)
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=variances, axes=axes)
    normals = np.random.default_rng(1).standard_normal((dimensions, dimensions))
    noise = mechanism.release(np.zeros((dimensions, dimensions)), Draws(normals.copy(), np.ones(dimensions)))
    # Normals are turned and stretched: along the shape, lengths and angles stay what they were.
    whitened = (noise @ axes) / np.sqrt(variances)
    np.testing.assert_allclose(whitened @ whitened.T, normals @ normals.T, rtol=1e-4, atol=1e-3)
