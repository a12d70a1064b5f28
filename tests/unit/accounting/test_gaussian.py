from __future__ import annotations

import math

import numpy as np
import pytest

from vecveil.accounting.gaussian import GaussianLoss, exact_delta
from vecveil.core.errors import InvalidInputError


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (4.0, 1e-9), (50.0, 0.1)])
def test_the_noise_has_the_stated_delta_and_no_less_noise_would(epsilon: float, delta: float) -> None:
    multiplier = GaussianLoss(epsilon=epsilon, delta=delta).multiplier
    assert exact_delta(multiplier, epsilon) <= delta
    assert exact_delta(0.999 * multiplier, epsilon) > delta


def test_it_needs_less_noise_than_the_classical_bound() -> None:
    classical = math.sqrt(2 * math.log(1.25 / 1e-6))
    assert 0.7 * classical < GaussianLoss(epsilon=1.0, delta=1e-6).multiplier < classical


def test_the_delta_is_that_of_two_normals() -> None:
    # The chance of a sample, less exp(epsilon) times its chance under the neighbor, summed where that is positive.
    multiplier, epsilon = 1.3, 0.8
    places = np.linspace(-20, 20, 400_001)
    one, other = (np.exp(-((places - shift) ** 2) / 2 / multiplier**2) for shift in (0.0, 1.0))
    excess = np.maximum(one - math.exp(epsilon) * other, 0).sum() / one.sum()
    assert exact_delta(multiplier, epsilon) == pytest.approx(excess, abs=1e-4)


def test_noise_is_as_long_as_it_says_and_repeats_with_its_generator() -> None:
    loss = GaussianLoss(epsilon=2.0)
    noise = loss.draw(np.random.default_rng(0), 200, 300, sensitivity=0.5)
    assert noise.std() == pytest.approx(loss.deviation(0.5), rel=0.02)
    assert np.array_equal(noise, loss.draw(np.random.default_rng(0), 200, 300, sensitivity=0.5))
    assert not np.array_equal(noise, loss.draw(np.random.default_rng(1), 200, 300, sensitivity=0.5))


def test_it_says_what_it_is_for() -> None:
    assert str(GaussianLoss()) == "(1, 1e-06)-differential privacy for replacing one text by another"


@pytest.mark.parametrize("settings", [{"epsilon": 0.0}, {"epsilon": 101.0}, {"delta": 0.0}, {"delta": 1.0}])
def test_bad_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(settings))):
        GaussianLoss(**settings)
