from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.accounting import additive_profile
from vecveil.accounting.profile.laws import panels
from vecveil.core.errors import InvalidInputError

DIMENSIONS = st.sampled_from([1, 2, 3, 4, 17, 384, 4096])


def reference_delta(*, dimensions: int, worst_case: float, epsilon: float) -> float:
    """The mean of 1 - exp(epsilon - loss) over radius and direction, as the noise is drawn.

    The radius is Gamma(n), its angle φ with the difference has density sin^(n-2) φ, and for each radius the angle at
    which the loss is epsilon has a closed form. Nothing of this is in the code under test.
    """
    n, widest = dimensions, 14 / math.sqrt(dimensions)
    kink = (worst_case - epsilon) / 2
    lowest, highest = max(0.0, n - 14 * math.sqrt(n)), n + 14 * math.sqrt(n) + 60
    # Below the kink every direction loses more than epsilon; just above it the angle moves as a square root.
    around = [kink + n / 4.0**power for power in range(25)]
    edges = np.unique(np.clip([*np.linspace(lowest, highest, 30), kink, *around], lowest, highest))
    total = 0.0
    for radius, width in zip(*panels(edges, 20), strict=True):
        density = math.exp((n - 1) * math.log(radius) - radius - math.lgamma(n))
        cosine = (epsilon**2 + 2 * radius * epsilon - worst_case**2) / (2 * radius * worst_case)
        start, end = max(0.0, math.pi / 2 - widest), min(math.acos(min(1, max(-1, cosine))), math.pi / 2 + widest)
        if end <= start:
            continue
        angles, widths = panels(np.linspace(start, end, 12), 20)
        log_area = math.lgamma(n / 2) - math.lgamma((n - 1) / 2) - math.log(math.pi) / 2
        weights = widths * np.exp(log_area + (n - 2) * np.log(np.sin(angles)))
        losses = np.sqrt(radius**2 + 2 * radius * worst_case * np.cos(angles) + worst_case**2) - radius
        total += width * density * float(weights @ -np.expm1(np.minimum(0, epsilon - losses)))
    return total


@pytest.mark.parametrize(
    ("dimensions", "worst_case"), [(2, 0.5), (2, 6.0), (3, 3.0), (8, 9.0), (384, 40.0), (4096, 90.0)]
)
@pytest.mark.parametrize("part", [0.0, 0.1, 0.3])
def test_the_profile_is_the_integral_over_radius_and_direction(dimensions: int, worst_case: float, part: float) -> None:
    profile = additive_profile(epsilon=worst_case / 0.7, dimensions=dimensions, distance=0.7)
    expected = reference_delta(dimensions=dimensions, worst_case=worst_case, epsilon=part * worst_case)
    assert profile.delta(part * worst_case) == pytest.approx(expected, rel=1e-8, abs=1e-12)


@given(worst_case=st.floats(1e-6, 1e6), part=st.floats(0, 1))
def test_on_the_line_it_is_the_profile_of_the_scalar_laplace_law(worst_case: float, part: float) -> None:
    profile = additive_profile(epsilon=worst_case, dimensions=1, distance=1.0)
    expected = -math.expm1((part * worst_case - worst_case) / 2)
    assert profile.delta(part * worst_case) == pytest.approx(expected, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("worst_case", [0.01, 1.0, 30.0])
def test_in_three_dimensions_it_has_a_closed_form(worst_case: float) -> None:
    # The density of loss/worst_case is (1 - ν² + c)·exp(worst_case·ν/2), and that is elementary at epsilon 0.
    half = worst_case / 2
    spare = 1 + 2 / half * (1 + 1 / half)
    profile = additive_profile(epsilon=worst_case, dimensions=3, distance=1.0)

    def moments(rate: float) -> float:
        """Integral of (spare - ν²)·exp(rate·ν) over [0, 1]."""
        square = math.exp(rate) * (1 / rate - 2 / rate**2 + 2 / rate**3) - 2 / rate**3
        return spare * math.expm1(rate) / rate - square

    expected = (moments(half) - moments(-half)) / (moments(half) + moments(-half))
    assert profile.advantage == pytest.approx(expected, rel=1e-7)


@settings(max_examples=80)
@given(
    dimensions=DIMENSIONS,
    epsilon=st.floats(-6, 6).map(lambda power: 10**power),
    distance=st.floats(-6, 3).map(lambda power: 10**power),
    parts=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_it_falls_from_the_total_variation_to_exactly_nothing(
    dimensions: int, epsilon: float, distance: float, parts: list[float]
) -> None:
    profile = additive_profile(epsilon=epsilon, dimensions=dimensions, distance=distance)
    worst_case = epsilon * distance
    lower, higher = (profile.delta(part * worst_case) for part in parts)
    assert 0 <= higher * (1 - 1e-10) <= lower <= 1
    assert lower <= profile.advantage * (1 + 1e-10)
    # Of all pairs with this worst case, randomized response is told apart most easily.
    assert profile.advantage <= math.tanh(worst_case / 2) * (1 + 1e-12)
    assert profile.delta(worst_case) == profile.delta(2 * worst_case) == 0


@settings(max_examples=60)
@given(dimensions=DIMENSIONS, worst_case=st.floats(1e-3, 200.0), part=st.floats(0, 0.99))
def test_two_distribution_functions_give_the_same_delta(dimensions: int, worst_case: float, part: float) -> None:
    # The other input's loss is minus this one's, so delta(e) = P(L > e) - exp(e)·P(L < -e).
    profile = additive_profile(epsilon=worst_case, dimensions=dimensions, distance=1.0)
    epsilon = min(part * worst_case, 20.0)
    above = 1 - profile.loss_at_most(epsilon)
    below = profile.loss_at_most(-epsilon)
    assert profile.delta(epsilon) == pytest.approx(above - math.exp(epsilon) * below, abs=1e-11)


def test_more_dimensions_hide_the_same_distance_better() -> None:
    advantages = [
        additive_profile(epsilon=5.0, dimensions=dimensions, distance=1.0).advantage
        for dimensions in (1, 2, 3, 10, 100, 1000)
    ]
    assert advantages == sorted(advantages, reverse=True)


def test_what_is_farther_apart_is_told_apart_more_easily() -> None:
    profiles = [
        additive_profile(epsilon=5.0, dimensions=100, distance=distance) for distance in (0.01, 0.3, 1.0, 1.1, 9.0)
    ]
    for at in (0.0, 0.04):
        deltas = [profile.delta(at) for profile in profiles]
        assert deltas == sorted(deltas)


def test_inputs_that_are_the_same_lose_nothing() -> None:
    profile = additive_profile(epsilon=5.0, dimensions=8, distance=0.0)
    assert (profile.worst_case, profile.delta(0.0), profile.epsilon(1e-6), profile.success) == (0, 0, 0, 0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"dimensions": 0}, "dimensions must be"),
        ({"distance": -1.0}, "distance must be"),
        ({"distance": math.inf}, "distance must be"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        additive_profile(**({"epsilon": 1.0, "dimensions": 2, "distance": 1.0} | settings))
