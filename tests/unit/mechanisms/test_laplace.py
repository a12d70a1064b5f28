from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import FreshRows
from vecveil.mechanisms.laplace import LaplaceMechanism


def test_the_density_integrates_to_one() -> None:
    mechanism = LaplaceMechanism(epsilon=3.0, dimensions=2)

    def density(first: float, second: float) -> float:
        return float(np.exp(mechanism.log_density(np.array([[first, second]]), np.zeros((1, 2))))[0])

    total, _ = integrate.dblquad(density, -9, 9, -9, 9, epsabs=1e-5)
    assert total == pytest.approx(1.0, abs=1e-3)


def test_noise_has_the_same_size_in_every_direction() -> None:
    noise = LaplaceMechanism(epsilon=2.0, dimensions=3).perturb(np.ones((40_000, 3)), FreshRows(40_000)) - 1
    # The covariance is (n + 1)/epsilon² times the identity; five standard errors of its entries are below 0.06.
    np.testing.assert_allclose(np.cov(noise, rowvar=False), np.eye(3), atol=0.06)


def test_the_noise_ratio_and_the_released_length_are_root_mean_squares() -> None:
    mechanism = LaplaceMechanism(epsilon=20.0, dimensions=5)
    vectors = np.full((100_000, 5), 2 / np.sqrt(5))
    released = mechanism.perturb(vectors, FreshRows(100_000))
    noise = np.sqrt(((released - vectors) ** 2).sum(axis=1).mean())
    assert mechanism.noise_ratio(2.0) == pytest.approx(noise / 2, rel=0.01)
    assert mechanism.released_length(2.0) == pytest.approx(np.sqrt((released**2).sum(axis=1).mean()), rel=0.01)


def test_the_distance_is_euclidean_in_double_precision() -> None:
    mechanism = LaplaceMechanism(epsilon=1.0, dimensions=2)
    assert mechanism.distance(np.array([[3, 0]], dtype=np.float32), np.array([[0.0, 4.0]])).tolist() == [5.0]
    assert mechanism.euclidean_loss() == mechanism.epsilon


@pytest.mark.parametrize(("settings", "message"), [({"epsilon": -1.0}, "epsilon must"), ({"dimensions": 0}, "dimen")])
def test_what_makes_no_sense_is_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        LaplaceMechanism(**({"epsilon": 1.0, "dimensions": 2} | settings))
