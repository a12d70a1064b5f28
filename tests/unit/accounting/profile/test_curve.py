from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st

from vecveil.accounting import PrivacyProfile, additive_profile, angular_profile
from vecveil.accounting.profile.curve import ComposedProfile, ReleaseProfile
from vecveil.accounting.profile.laws import LineLaw
from vecveil.core.errors import InvalidInputError, MissingExtraError


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


PROFILES = {
    "line": additive_profile(epsilon=1.5, dimensions=1, distance=1.0),
    "circle": angular_profile(epsilon=2.0, dimensions=2, angle=1.0),
    "plane": additive_profile(epsilon=3.0, dimensions=2, distance=1.0),
    "space": additive_profile(epsilon=40.0, dimensions=384, distance=1.0),
    "far apart": additive_profile(epsilon=1e5, dimensions=384, distance=1.0),
    "nearly one": additive_profile(epsilon=1e-9, dimensions=8, distance=1.0),
    "sphere": angular_profile(epsilon=9.0, dimensions=20, angle=0.9),
}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_the_grid_gives_an_upper_bound_that_is_close(profile: ReleaseProfile) -> None:
    on_grid = ComposedProfile.of(profile.law, 1)
    assert on_grid.rounding == on_grid.step
    for at in (0.05 * profile.worst_case, 0.3 * profile.worst_case, 0.9 * profile.worst_case):
        exact, found = profile.delta(at), on_grid.delta(at)
        assert exact <= found * (1 + 1e-12) <= profile.delta(at - on_grid.rounding) * (1 + 1e-11) + 2e-13
        assert found == pytest.approx(exact, rel=1e-4, abs=2e-13)
    assert on_grid.advantage == pytest.approx(profile.advantage, rel=1e-4, abs=2e-13)


@pytest.mark.parametrize("releases", [2, 5, 40])
def test_on_the_line_it_agrees_with_the_library_on_laplace_noise(releases: int) -> None:
    ours = additive_profile(epsilon=1.5, dimensions=1, distance=1.0).compose(releases)
    theirs = privacy_loss_distribution.from_laplace_mechanism(1 / 1.5, value_discretization_interval=1e-4).self_compose(
        releases
    )
    for epsilon in (0.0, 1.0, 0.5 * ours.worst_case):
        assert ours.delta(epsilon) == pytest.approx(theirs.get_delta_for_epsilon(epsilon), rel=1e-5, abs=1e-11)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_no_more_is_reported_than_the_worst_cases_add_up_to(profile: ReleaseProfile) -> None:
    composed = profile.compose(8)
    assert composed.worst_case == 8 * profile.worst_case
    assert composed.delta(composed.worst_case) == 0
    assert composed.epsilon(1e-6) <= composed.worst_case
    assert composed.epsilon(1e-30) == pytest.approx(composed.worst_case)
    assert composed.advantage <= np.tanh(composed.worst_case / 2)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_each_further_release_tells_more(profile: ReleaseProfile) -> None:
    advantages = [profile.compose(releases).advantage for releases in (1, 2, 8, 100)]
    assert all(fewer <= more * (1 + 1e-9) for fewer, more in pairwise(advantages))


def test_in_high_dimension_many_releases_cost_far_less_than_their_worst_cases() -> None:
    composed = additive_profile(epsilon=5.0, dimensions=384, distance=1.0).compose(100)
    assert composed.epsilon(1e-6) < 15 < composed.worst_case / 30


@pytest.mark.parametrize("releases", [10**4, 10**6, 10**9])
def test_the_grid_stays_small_for_any_number_of_releases(releases: int) -> None:
    composed = PROFILES["space"].compose(releases)
    assert composed.composed_losses.size < 500_000
    assert 0.999 < composed.advantage <= 1
    # The losses add up, so that epsilon is at least about their mean.
    points = PROFILES["space"].law.points(PROFILES["space"].law.landmarks)
    mean = 40.0 - float(points.probabilities @ points.shortfalls)
    assert 0.99 * releases * mean <= composed.epsilon(1e-6) <= composed.worst_case


def test_releases_of_releases_multiply() -> None:
    profile = PROFILES["plane"]
    assert profile.compose(2).compose(3).epsilon(1e-5) == pytest.approx(profile.compose(6).epsilon(1e-5))
    assert profile.compose(1) is profile
    twice = profile.compose(2)
    assert twice.compose(1) is twice


def test_nothing_stays_nothing() -> None:
    assert additive_profile(epsilon=1.0, dimensions=8, distance=0.0).compose(10).advantage == 0


def test_a_number_of_releases_is_at_least_one() -> None:
    for profile in (PROFILES["plane"], PROFILES["plane"].compose(2)):
        with pytest.raises(InvalidInputError, match="releases must be a whole number of at least 1, got 0"):
            profile.compose(0)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.pld_pmf", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[accounting\]"):
        PROFILES["plane"].compose(2)


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


@pytest.mark.parametrize("distance", [1e14, 1e16, 1e20, 1e40, 1e300])
@pytest.mark.parametrize("dimensions", [2, 384])
def test_losses_that_doubles_do_not_tell_apart_are_the_worst_case(dimensions: int, distance: float) -> None:
    profile = additive_profile(epsilon=1.0, dimensions=dimensions, distance=distance)
    for epsilon in (0.0, 1.0, distance / 2):
        assert profile.delta(epsilon) == pytest.approx(1.0, abs=1e-12)
        assert profile.loss_at_most(epsilon) == 0.0
    assert profile.delta(distance) == 0.0
    assert profile.loss_at_most(distance) == 1.0
