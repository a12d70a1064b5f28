from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecveil.accounting import PrivacyProfile
from vecveil.core.errors import InvalidInputError


@dataclass(frozen=True)
class Line(PrivacyProfile):
    """The scalar Laplace law, in closed form."""

    worst_case: float = 3.0

    def delta(self, epsilon: float) -> float:
        return max(0.0, -math.expm1((epsilon - self.worst_case) / 2))

    def compose(self, releases: int) -> PrivacyProfile:
        return Line(releases * self.worst_case)


@given(delta=st.floats(1e-12, 0.7))
def test_epsilon_is_the_inverse_of_delta_and_rounded_up(delta: float) -> None:
    profile = Line()
    epsilon = profile.epsilon(delta)
    assert profile.delta(epsilon) <= delta
    assert epsilon == pytest.approx(3.0 + 2 * math.log1p(-delta), abs=1e-10)


def test_a_delta_that_zero_already_keeps_needs_no_epsilon() -> None:
    profile = Line()
    assert profile.epsilon(profile.delta(0.0)) == 0
    assert profile.epsilon(1.0) == 0


def test_without_any_delta_only_the_worst_case_is_left() -> None:
    assert Line().epsilon(0.0) == 3.0


def test_success_is_half_of_what_the_advantage_leaves_to_chance() -> None:
    profile = Line()
    assert profile.advantage == pytest.approx(-math.expm1(-1.5))
    assert profile.success == pytest.approx((1 - math.expm1(-1.5)) / 2)


def test_a_negative_delta_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="delta must be"):
        Line().epsilon(-0.1)
