from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import FreshRows, SeededRows
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism
from vecveil.testing.mechanisms import perturb_with_seed


def test_only_directions_are_released() -> None:
    vectors = np.random.default_rng(0).standard_normal((6, 5))
    mechanism = PurkayasthaMechanism(epsilon=10.0, dimensions=5)
    once, scaled = (perturb_with_seed(mechanism, values, 1) for values in (vectors, 7 * vectors))
    np.testing.assert_allclose(np.linalg.norm(once, axis=1), 1)
    np.testing.assert_allclose(once, scaled)


def test_the_density_integrates_to_one_on_the_circle() -> None:
    mechanism = PurkayasthaMechanism(epsilon=2.0, dimensions=2)

    def density(angle: float) -> float:
        return float(
            np.exp(mechanism.log_density(np.array([[np.cos(angle), np.sin(angle)]]), np.array([[1.0, 0.0]])))[0]
        )

    total = 2 * integrate.quad(density, 0, np.pi)[0]
    assert total == pytest.approx(1.0)


def test_the_density_integrates_to_one_on_the_sphere() -> None:
    mechanism = PurkayasthaMechanism(epsilon=2.0, dimensions=3)

    def ring(angle: float) -> float:
        point = np.array([[np.cos(angle), np.sin(angle), 0.0]])
        return float(np.exp(mechanism.log_density(point, np.array([[1.0, 0.0, 0.0]])))[0]) * 2 * np.pi * np.sin(angle)

    assert integrate.quad(ring, 0, np.pi)[0] == pytest.approx(1.0)


def test_huge_and_tiny_budgets_stay_finite() -> None:
    point = np.eye(1, 4096)
    for epsilon in (1e-12, 1e12):
        mechanism = PurkayasthaMechanism(epsilon=epsilon, dimensions=4096)
        released = mechanism.perturb(np.tile(point, (20, 1)), FreshRows(20))
        assert np.isfinite(released).all()
        assert np.isfinite(mechanism.log_density(released, point)).all()


def test_it_turns_a_vector_about_as_far_as_laplace_noise_of_the_same_epsilon() -> None:
    for epsilon in (400.0, 1600.0):
        directional = PurkayasthaMechanism(epsilon=epsilon, dimensions=768).noise_ratio(1.0)
        additive = LaplaceMechanism(epsilon=epsilon, dimensions=768).noise_ratio(1.0)
        assert directional == pytest.approx(additive, rel=0.01)


def test_small_angles_keep_their_digits() -> None:
    mechanism = PurkayasthaMechanism(epsilon=1.0, dimensions=2)
    angle = 1e-9
    measured = mechanism.distance(np.array([[1.0, 0.0]]), np.array([[np.cos(angle), np.sin(angle)]]))[0]
    assert measured == pytest.approx(angle, rel=1e-6)


def test_one_dimension_has_no_directions() -> None:
    with pytest.raises(InvalidInputError, match="dimensions must be a whole number of at least 2, got 1"):
        PurkayasthaMechanism(epsilon=1.0, dimensions=1)


@pytest.mark.parametrize("mechanism", [LaplaceMechanism, PurkayasthaMechanism])
def test_mechanisms_without_a_shape_refuse_one(mechanism: type[LaplaceMechanism]) -> None:
    with pytest.raises(InvalidInputError, match="use the mahalanobis mechanism"):
        mechanism.for_shape(epsilon=1.0, variances=np.array([1.0, 2.0]), axes=None, center=None)


@pytest.mark.parametrize("dimensions", [2, 16, 384, 768, 4096])
def test_the_noise_ratio_keeps_its_digits_at_any_budget(dimensions: int) -> None:
    for epsilon in (1e6, 1e9, 1e12):
        ratio = PurkayasthaMechanism(epsilon=epsilon, dimensions=dimensions).noise_ratio(1.0)
        # For small angles the law of the angle is Gamma(n - 1, 1/epsilon), whose mean square is n(n - 1)/epsilon².
        assert ratio == pytest.approx(np.sqrt(dimensions * (dimensions - 1)) / epsilon, rel=1e-3)


class GivenNormals(SeededRows):
    """Rows whose normals are handed in."""

    def __init__(self, normals: Matrix) -> None:
        super().__init__(np.random.default_rng(0), len(normals))
        self._normals = normals

    def normals(self, count: int) -> Matrix:
        assert count == self._normals.shape[1]
        return self._normals.copy()


@pytest.fixture
def fixed_angle(monkeypatch: pytest.MonkeyPatch) -> float:
    """An angle in the place of a drawn one."""
    monkeypatch.setattr(
        "vecveil.mechanisms.angle.AngleDistribution.sample", lambda _, random: np.full(len(random), 0.3)
    )
    return 0.3


@pytest.mark.parametrize("sideways", [1.0, 1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_noise_that_points_along_the_vector_still_turns_it(
    dimensions: int, sideways: float, fixed_angle: float
) -> None:
    point = np.eye(dimensions)[:1]
    normals = np.eye(dimensions)[:1] + sideways * np.eye(dimensions)[1:2]
    mechanism = PurkayasthaMechanism(epsilon=2.0, dimensions=dimensions)
    released = mechanism.perturb(point, GivenNormals(normals))[0]
    np.testing.assert_allclose(released[:2], [np.cos(fixed_angle), np.sin(fixed_angle)], atol=1e-3)


def test_a_vector_is_turned_in_the_plane_of_its_noise_to_the_side_of_that(fixed_angle: float) -> None:
    rng = np.random.default_rng(0)
    vectors, normals = 3 * rng.standard_normal((40, 5)), rng.standard_normal((40, 5))
    turned = PurkayasthaMechanism(epsilon=2.0, dimensions=5).perturb(vectors, GivenNormals(normals))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    sideways = normals - (normals * units).sum(axis=1, keepdims=True) * units
    sideways /= np.linalg.norm(sideways, axis=1, keepdims=True)
    np.testing.assert_allclose(turned, np.cos(fixed_angle) * units + np.sin(fixed_angle) * sideways, atol=1e-12)


@pytest.mark.parametrize("aside", [0.04, 0.01, 1e-4])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_noise_that_hardly_points_aside_keeps_its_digits(kind: type, aside: float, fixed_angle: float) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((6, 50)).astype(kind)
    units = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    sideways = rng.standard_normal((6, 50))
    sideways -= (sideways * units).sum(axis=1, keepdims=True) * units
    sideways /= np.linalg.norm(sideways, axis=1, keepdims=True)
    turned = PurkayasthaMechanism(epsilon=2.0, dimensions=50).perturb(
        vectors, GivenNormals(7 * (units + aside * sideways))
    )
    np.testing.assert_allclose(turned, np.cos(fixed_angle) * units + np.sin(fixed_angle) * sideways, atol=1e-11)


@pytest.mark.parametrize("size", [1e160, 1e-29, 1e308])
def test_turning_huge_and_tiny_vectors_is_turning_others(size: float) -> None:
    vectors = np.random.default_rng(2).uniform(0.1, 1, (5, 9))
    mechanism = PurkayasthaMechanism(epsilon=2.0, dimensions=9)
    plain, other = (perturb_with_seed(mechanism, values, 3) for values in (vectors, vectors * size))
    np.testing.assert_allclose(other, plain, atol=1e-14)
