from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from vecveil.core.randomness import FreshRows
from vecveil.mechanisms.spherical import log_sphere_area, spherical_log_density, spherical_noise

ROWS = 20_000


@pytest.mark.parametrize("dimensions", [1, 2, 3, 16, 385])
def test_the_radius_has_a_gamma_law(dimensions: int) -> None:
    radii = np.linalg.norm(spherical_noise(FreshRows(ROWS), dimensions, 7.0), axis=1)
    assert stats.kstest(radii, stats.gamma(dimensions, scale=1 / 7).cdf).pvalue > 1e-7


@pytest.mark.parametrize(("dimensions", "columns"), [(1, 2), (3, 8), (8, 9)])
def test_more_columns_make_noise_whose_projection_has_the_law(dimensions: int, columns: int) -> None:
    noise = spherical_noise(FreshRows(ROWS), dimensions, 7.0, columns=columns)
    assert noise.shape == (ROWS, columns)
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((columns, columns)))[0]
    radii = np.linalg.norm(noise @ axes[:, :dimensions], axis=1)
    assert stats.kstest(radii, stats.gamma(dimensions, scale=1 / 7).cdf).pvalue > 1e-7


def test_radius_and_direction_are_independent() -> None:
    noise = spherical_noise(FreshRows(ROWS), 4, 1.0)
    radii = np.linalg.norm(noise, axis=1)
    assert stats.spearmanr(radii, noise[:, 0] / radii).pvalue > 1e-7
    assert stats.spearmanr(radii, np.abs(noise[:, 0]) / radii).pvalue > 1e-7


@pytest.mark.parametrize("dimensions", [1, 2, 3, 10])
def test_the_density_integrates_to_one(dimensions: int) -> None:
    def shell(radius: float) -> float:
        area = math.exp(log_sphere_area(dimensions)) * radius ** (dimensions - 1)
        return area * float(np.exp(spherical_log_density(np.array([radius]), dimensions, 2.5))[0])

    assert integrate.quad(shell, 0, 40)[0] == pytest.approx(1.0)


def test_the_area_of_a_sphere_is_the_textbooks() -> None:
    areas = [math.exp(log_sphere_area(dimensions)) for dimensions in (1, 2, 3, 4)]
    assert areas == pytest.approx([2, 2 * math.pi, 4 * math.pi, 2 * math.pi**2])
