from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms.angle import AngleDistribution
from vecveil.mechanisms.chance import Cost, GeneratorChance
from vecveil.mechanisms.draws import Draws
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism


def test_only_directions_are_released() -> None:
    vectors = np.random.default_rng(0).standard_normal((6, 5))
    mechanism = PurkayasthaMechanism(epsilon=10.0, dimensions=5)
    once, scaled = (mechanism.perturb(values, np.random.default_rng(1)) for values in (vectors, 7 * vectors))
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


@pytest.mark.parametrize("dimensions", [3, 16, 768, 4096])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 620.0, 1e6])
def test_the_likeliest_angle_is_where_its_tangent_says(dimensions: int, epsilon: float) -> None:
    law = AngleDistribution(epsilon=epsilon, dimensions=dimensions)
    assert np.tan(law.mode) == pytest.approx((dimensions - 2) / epsilon, rel=1e-6)


def test_huge_and_tiny_budgets_stay_finite() -> None:
    point = np.eye(1, 4096)
    for epsilon in (1e-12, 1e12):
        mechanism = PurkayasthaMechanism(epsilon=epsilon, dimensions=4096)
        released = mechanism.perturb(np.tile(point, (20, 1)), np.random.default_rng(0))
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
        mechanism.for_shape(epsilon=1.0, variances=np.array([1.0, 2.0]), axes=None, centre=None)


@pytest.mark.parametrize("dimensions", [2, 16, 384, 768, 4096])
def test_the_noise_ratio_keeps_its_digits_at_any_budget(dimensions: int) -> None:
    for epsilon in (1e6, 1e9, 1e12):
        ratio = PurkayasthaMechanism(epsilon=epsilon, dimensions=dimensions).noise_ratio(1.0)
        # For small angles the law of the angle is Gamma(n - 1, 1/epsilon), whose mean square is n(n - 1)/epsilon².
        assert ratio == pytest.approx(np.sqrt(dimensions * (dimensions - 1)) / epsilon, rel=1e-3)


@pytest.mark.parametrize("sideways", [1.0, 1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_noise_that_points_along_the_vector_still_turns_it(dimensions: int, sideways: float) -> None:
    point = np.eye(dimensions)[:1]
    normals = np.eye(dimensions)[:1] + sideways * np.eye(dimensions)[1:2]
    mechanism = PurkayasthaMechanism(epsilon=2.0, dimensions=dimensions)
    released = mechanism.release(point, Draws(normals, np.array([0.3])))[0]
    np.testing.assert_allclose(released[:2], [np.cos(0.3), np.sin(0.3)], atol=1e-3)


def test_an_angle_on_the_circle_has_an_end_however_small_the_number_that_it_is_made_of() -> None:
    class Least(GeneratorChance):
        def gammas(self, shape: float, cost: Cost | None = None) -> np.ndarray:
            del shape, cost
            return np.array([1e-300, 1e-17, 1e300])

    for epsilon in (1e-12, 1.0, 1e12):
        angles = AngleDistribution(epsilon=epsilon, dimensions=2).sample(Least(np.random.default_rng(0), 3))
        assert np.isfinite(angles).all()
        assert (np.diff(angles) <= 0).all()
        assert angles.max() <= np.pi * (1 + 1e-12)
