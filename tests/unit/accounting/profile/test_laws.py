from __future__ import annotations

import math

import numpy as np
import pytest

from vecveil.accounting import additive_profile, angular_profile
from vecveil.accounting.profile.laws import LineLaw, LossLaw, SpheroidalLaw, borders_between
from vecveil.core.arrays import Vector

LAWS = {
    "line": additive_profile(epsilon=3.0, dimensions=1, distance=1.0).law,
    "long line": additive_profile(epsilon=1e6, dimensions=1, distance=1.0).law,
    "circle": angular_profile(epsilon=3.0, dimensions=2, angle=2.0).law,
    "plane": additive_profile(epsilon=3.0, dimensions=2, distance=1.0).law,
    "space": additive_profile(epsilon=40.0, dimensions=384, distance=1.0).law,
    "far apart": additive_profile(epsilon=1e6, dimensions=384, distance=1.0).law,
    "sphere": angular_profile(epsilon=3.0, dimensions=3, angle=3.1).law,
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_probabilities_add_up_to_one(law: LossLaw) -> None:
    assert law.points(law.landmarks).probabilities.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", ["line", "circle", "plane", "space", "sphere"])
def test_the_other_input_has_a_density_too(name: str) -> None:
    """The mean of exp(-loss) is the probability of all outputs under the other input: one."""
    law = LAWS[name]
    points = law.points(law.landmarks)
    assert points.probabilities @ np.exp(points.shortfalls - law.worst_case) == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_bulk_leaves_nothing_out(law: LossLaw) -> None:
    low, high = law.bulk
    assert 0 <= low < high <= 2 * law.worst_case
    inside = law.points(borders_between(law, low, high)).probabilities.sum()
    assert inside == pytest.approx(1, abs=1e-12)


def test_the_ends_of_a_line_count_where_they_are_asked_for() -> None:
    law = LineLaw(worst_case=2.0, atom=0.5, level=0.25)
    inner = law.points(np.array([1.0, 3.0]))
    assert inner.probabilities.sum() == pytest.approx(0.5 * (math.exp(-0.5) - math.exp(-1.5)))
    upper = law.points(np.array([0.0, 1.0]))
    assert upper.probabilities.sum() == pytest.approx(0.5 + 0.5 * (1 - math.exp(-0.5)))


def test_a_narrow_peak_is_found_and_averaged_over() -> None:
    def log_weight(bearings: Vector) -> Vector:
        return -0.5 * ((bearings - 1.2345) / 1e-5) ** 2

    law = SpheroidalLaw(worst_case=1.0, log_weight=log_weight)
    assert law.mean(lambda bearings: bearings) == pytest.approx(1.2345, abs=1e-9)
    assert law.mean(lambda bearings: (bearings - 1.2345) ** 2) == pytest.approx(1e-10, rel=1e-9)


def test_what_lies_between_borders_is_in_order() -> None:
    law = LAWS["plane"]
    borders = borders_between(law, 1.0, 2.0, np.array([0.5, 1.7, 1.7, 9.0]))
    assert (borders[0], borders[-1]) == (1.0, 2.0)
    assert 1.7 in borders
    assert (np.diff(borders) > 0).all()
