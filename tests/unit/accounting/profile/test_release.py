from __future__ import annotations

import math

import pytest

from vecveil.accounting.profile.laws import LineLaw
from vecveil.accounting.profile.release import ReleaseProfile
from vecveil.core.errors import InvalidInputError

PROFILE = ReleaseProfile(law=LineLaw(worst_case=3.0, atom=0.5, level=0.25))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.9])
def test_delta_is_the_mean_of_what_exceeds_epsilon(epsilon: float) -> None:
    assert PROFILE.worst_case == 3.0
    assert PROFILE.delta(epsilon) == pytest.approx(-math.expm1((epsilon - 3.0) / 2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [3.0, 1e9])
def test_at_the_worst_case_nothing_is_left(epsilon: float) -> None:
    assert PROFILE.delta(epsilon) == 0.0


def test_a_negative_epsilon_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="epsilon must be"):
        PROFILE.delta(-0.1)


def test_losses_lie_between_minus_and_plus_the_worst_case() -> None:
    assert PROFILE.loss_at_most(3.0) == 1.0
    assert PROFILE.loss_at_most(-3.1) == 0.0
    # Half of all outputs lie behind their input, and lose all; the share exp(-3)/2 lies behind the other.
    assert PROFILE.loss_at_most(2.999999) == pytest.approx(0.5, abs=1e-6)
    assert PROFILE.loss_at_most(-3.0) == pytest.approx(math.exp(-3) / 2)


def test_one_release_is_composed_of_itself() -> None:
    assert PROFILE.compose(1) is PROFILE
    nothing = ReleaseProfile(law=LineLaw(worst_case=0.0, atom=0.5, level=0.25))
    assert nothing.compose(5) is nothing
    with pytest.raises(InvalidInputError, match="releases must be"):
        PROFILE.compose(0)
