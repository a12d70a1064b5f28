from __future__ import annotations

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.veil.budget import epsilon_for_noise_ratio


def test_bisection_finds_the_epsilon_of_a_ratio() -> None:
    assert epsilon_for_noise_ratio(0.25, lambda epsilon: 7 / epsilon) == pytest.approx(28, rel=1e-10)
    assert epsilon_for_noise_ratio(2.0, lambda epsilon: epsilon**-0.5) == pytest.approx(0.25, rel=1e-10)


def test_a_ratio_that_no_epsilon_gives_is_refused_with_its_value() -> None:
    with pytest.raises(InvalidInputError, match=r"no epsilon gives a noise ratio of 3\.0"):
        epsilon_for_noise_ratio(3.0, lambda epsilon: 2 / (1 + epsilon))


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("nan"), float("inf")])
def test_a_ratio_that_is_no_positive_number_is_refused(ratio: float) -> None:
    with pytest.raises(InvalidInputError, match="noise ratio must be a finite number above zero"):
        epsilon_for_noise_ratio(ratio, lambda epsilon: 1 / epsilon)
