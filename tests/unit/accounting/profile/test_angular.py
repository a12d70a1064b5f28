from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import beta

from vecveil.accounting import additive_profile, angular_profile
from vecveil.accounting.profile.laws import panels
from vecveil.core.errors import InvalidInputError


def reference_delta(*, epsilon: float, dimensions: int, angle: float, at: float) -> float:
    """The mean over the angle of an output from its input and over its azimuth, as the mechanism draws them.

    For each angle the azimuth at which the loss is `at` has a closed form. Nothing of this is in the code under test.
    """
    # Where the border of the losses above `at` starts and ends, it moves as a square root.
    start, end = (angle - at / epsilon) / 2, math.pi - (angle + at / epsilon) / 2
    around = [place + side * 4.0**-power for place in (start, end) for side in (1, -1) for power in range(25)]
    edges = np.unique(np.clip([*np.linspace(0, math.pi, 30), start, end, *around], 0, math.pi))
    total = 0.0
    for turn, width in zip(*panels(edges, 16), strict=True):
        other = min(math.pi, turn + at / epsilon)
        cosine = (math.cos(other) - math.cos(turn) * math.cos(angle)) / (math.sin(turn) * math.sin(angle))
        azimuths, widths = panels(np.linspace(math.acos(min(1, max(-1, cosine))), math.pi, 8), 16)
        cosines = math.cos(turn) * math.cos(angle) + math.sin(turn) * math.sin(angle) * np.cos(azimuths)
        losses = epsilon * (np.arccos(np.clip(cosines, -1, 1)) - turn)
        inner = widths @ (np.sin(azimuths) ** (dimensions - 3) * np.maximum(0, -np.expm1(at - losses)))
        total += width * math.sin(turn) ** (dimensions - 2) * math.exp(-epsilon * turn) * float(inner)
    turns, _ = quad(lambda turn: math.sin(turn) ** (dimensions - 2) * math.exp(-epsilon * turn), 0, math.pi)
    return float(total / turns / beta((dimensions - 2) / 2, 0.5))


@pytest.mark.parametrize(
    ("epsilon", "dimensions", "angle", "at"),
    [(2.0, 3, 0.5, 0.2), (3.0, 4, 1.0, 0.0), (1.5, 6, 2.0, 1.0), (0.7, 5, 3.1, 0.3), (9.0, 12, 0.4, 0.5)],
)
def test_the_profile_is_the_integral_over_the_sphere(epsilon: float, dimensions: int, angle: float, at: float) -> None:
    profile = angular_profile(epsilon=epsilon, dimensions=dimensions, angle=angle)
    expected = reference_delta(epsilon=epsilon, dimensions=dimensions, angle=angle, at=at)
    assert profile.delta(at) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("epsilon", "angle", "part"), [(0.3, 0.5, 0.0), (2.0, 1.0, 0.4), (5.0, 3.0, 0.1), (1.0, math.pi, 0.2)]
)
def test_on_the_circle_it_is_the_integral_around_it(epsilon: float, angle: float, part: float) -> None:
    turns = (np.arange(2_000_000) + 0.5) * (2 * math.pi / 2_000_000) - math.pi
    others = np.abs(turns - angle)
    losses = epsilon * (np.minimum(others, 2 * math.pi - others) - np.abs(turns))
    weights = np.exp(-epsilon * np.abs(turns))
    at = part * epsilon * angle
    expected = float(weights @ np.maximum(0, -np.expm1(at - losses)) / weights.sum())
    profile = angular_profile(epsilon=epsilon, dimensions=2, angle=angle)
    assert profile.delta(at) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("dimensions", [3, 4, 50, 768])
def test_opposite_directions_differ_by_the_angle_alone(dimensions: int) -> None:
    # At an angle of π the loss is epsilon·(π - 2·turn), whatever the azimuth.
    epsilon, at = 1.2 * math.sqrt(dimensions), 0.7

    def weight(turn: float) -> float:
        return math.sin(turn) ** (dimensions - 2) * math.exp(epsilon * (math.pi / 2 - turn))

    last = (math.pi - at / epsilon) / 2
    near = max(0.0, last - 12 / math.sqrt(dimensions))
    total, _ = quad(weight, near, math.pi, epsabs=0, epsrel=1e-11, limit=300)
    above, _ = quad(
        lambda turn: weight(turn) * -math.expm1(at - epsilon * (math.pi - 2 * turn)), near, last, epsabs=0, epsrel=1e-11
    )
    profile = angular_profile(epsilon=epsilon, dimensions=dimensions, angle=math.pi)
    assert profile.delta(at) == pytest.approx(above / total, rel=1e-7)
    nearly = angular_profile(epsilon=epsilon, dimensions=dimensions, angle=math.pi - 1e-7)
    assert nearly.delta(at) == pytest.approx(profile.delta(at), rel=1e-5)


@pytest.mark.parametrize("dimensions", [2, 3, 9, 384])
def test_close_directions_are_told_apart_as_on_the_plane_that_touches_there(dimensions: int) -> None:
    worst_case = 2 * math.sqrt(dimensions)
    on_sphere = angular_profile(epsilon=worst_case / 1e-5, dimensions=dimensions, angle=1e-5)
    on_plane = additive_profile(epsilon=worst_case, dimensions=dimensions - 1, distance=1.0)
    for at in (0.0, 0.3 * worst_case, 0.8 * worst_case):
        assert on_sphere.delta(at) == pytest.approx(on_plane.delta(at), rel=1e-4)


@settings(max_examples=50)
@given(
    dimensions=st.sampled_from([2, 3, 4, 5, 17, 384, 4096]),
    epsilon=st.floats(-6, 6).map(lambda power: 10**power),
    angle=st.floats(1e-9, math.pi),
    parts=st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_it_falls_from_the_total_variation_to_exactly_nothing(
    dimensions: int, epsilon: float, angle: float, parts: list[float]
) -> None:
    profile = angular_profile(epsilon=epsilon, dimensions=dimensions, angle=angle)
    worst_case = epsilon * angle
    lower, higher = (profile.delta(part * worst_case) for part in parts)
    assert 0 <= higher * (1 - 1e-10) <= lower <= 1
    assert profile.advantage <= math.tanh(worst_case / 2) * (1 + 1e-12)
    assert profile.delta(worst_case) == profile.delta(2 * worst_case) == 0
    epsilon_at = min(parts[0] * worst_case, 20.0)
    identity = 1 - profile.loss_at_most(epsilon_at) - math.exp(epsilon_at) * profile.loss_at_most(-epsilon_at)
    if parts[0] < 1:
        assert profile.delta(epsilon_at) == pytest.approx(identity, abs=1e-10)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"dimensions": 1}, "dimensions must be"),
        ({"angle": 3.2}, "angle must be at most π, got 3.2"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        angular_profile(**({"epsilon": 1.0, "dimensions": 3, "angle": 1.0} | settings))


def test_a_direction_against_itself_loses_nothing() -> None:
    assert angular_profile(epsilon=5.0, dimensions=8, angle=0.0).advantage == 0
