from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from vecveil.core.arrays import Matrix
from vecveil.core.randomness import FreshRows, KeyedRows
from vecveil.mechanisms.angle import AngleDistribution


@pytest.mark.parametrize("dimensions", [3, 16, 768, 4096])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 620.0, 1e6])
def test_the_likeliest_angle_is_where_its_tangent_says(dimensions: int, epsilon: float) -> None:
    law = AngleDistribution(epsilon=epsilon, dimensions=dimensions)
    assert np.tan(law.mode) == pytest.approx((dimensions - 2) / epsilon, rel=1e-6)


@pytest.mark.parametrize("dimensions", [2, 3, 4, 20])
@pytest.mark.parametrize("epsilon", [1e-3, 2.0, 30.0])
def test_normalizer_and_mean_are_integrals_over_the_angle(dimensions: int, epsilon: float) -> None:
    law = AngleDistribution(epsilon=epsilon, dimensions=dimensions)

    def weight(angle: float) -> float:
        return math.sin(angle) ** (dimensions - 2) * math.exp(-epsilon * angle)

    total = integrate.quad(weight, 0, math.pi, epsabs=0)[0]
    shortfall = integrate.quad(lambda angle: weight(angle) * (1 - math.cos(angle)), 0, math.pi, epsabs=0)[0]
    assert law.log_normalizer == pytest.approx(math.log(total), abs=1e-9)
    assert law.mean_shortfall == pytest.approx(shortfall / total, rel=1e-8)


@pytest.mark.parametrize("dimensions", [2, 3, 4, 20])
@pytest.mark.parametrize("epsilon", [1e-6, 2.0, 30.0])
def test_angles_have_their_law(dimensions: int, epsilon: float) -> None:
    law = AngleDistribution(epsilon=epsilon, dimensions=dimensions)
    grid = np.linspace(0, math.pi, 20_001)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.sin(grid) ** (dimensions - 2) * np.exp(-epsilon * grid)
    masses = integrate.cumulative_simpson(weights, x=grid, initial=0)
    angles = law.sample(FreshRows(20_000))
    assert ((angles > 0) & (angles < math.pi)).all()
    assert stats.kstest(angles, lambda values: np.interp(values, grid, masses / masses[-1])).pvalue > 1e-7


@pytest.mark.parametrize("dimensions", [2, 3, 4096])
@pytest.mark.parametrize("epsilon", [1e-12, 1e12])
def test_huge_and_tiny_budgets_stay_finite(dimensions: int, epsilon: float) -> None:
    law = AngleDistribution(epsilon=epsilon, dimensions=dimensions)
    angles = law.sample(FreshRows(20))
    assert np.isfinite([law.log_normalizer, law.mean_shortfall, *angles]).all()


def test_a_row_of_a_key_gets_the_same_angle_whatever_others_had_to_try_again() -> None:
    starts = np.random.default_rng(1).integers(2**63, size=(200, 2)).astype("<u8")
    law = AngleDistribution(epsilon=1e-3, dimensions=3)
    whole = law.sample(KeyedRows(bytes(range(32)), starts))
    alone = [law.sample(KeyedRows(bytes(range(32)), starts[row : row + 1]))[0] for row in range(200)]
    np.testing.assert_allclose(whole, alone, rtol=1e-13)


def test_an_angle_on_the_circle_has_an_end_however_small_the_number_that_it_is_made_of() -> None:
    class Outermost:
        def uniforms(self, count: int) -> Matrix:
            assert count == 1
            return np.array([[2.0**-54], [2.0**-52], [0.5], [1 - 2.0**-52]])

    outermost: Any = Outermost()
    for epsilon in (1e-12, 1.0, 1e12):
        angles = AngleDistribution(epsilon=epsilon, dimensions=2).sample(outermost)
        assert np.isfinite(angles).all()
        assert (np.diff(angles) > 0).all()
        assert angles.min() > 0
        assert angles.max() <= np.pi * (1 + 1e-12)
