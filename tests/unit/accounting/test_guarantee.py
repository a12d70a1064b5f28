from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vecveil.accounting import EuclideanBounds, Guarantee
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism


@given(
    variances=arrays(np.float64, 8, elements=st.floats(1e-6, 1e3)),
    difference=arrays(np.float64, 8, elements=st.floats(-10, 10)),
)
def test_lemma_two_holds_for_every_shape_and_difference(variances: np.ndarray, difference: np.ndarray) -> None:
    bounds = EuclideanBounds.from_variances(epsilon=3.0, variances=variances)
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=variances)
    loss = 3.0 * mechanism.distance(difference[np.newaxis], np.zeros((1, 8)))[0]
    length = float(np.linalg.norm(difference))
    assert bounds.lower * length <= loss * (1 + 1e-9) + 1e-12
    assert loss <= bounds.upper * length * (1 + 1e-9) + 1e-12


def test_both_bounds_are_reached() -> None:
    bounds = EuclideanBounds.from_variances(epsilon=2.0, variances=np.array([4.0, 0.25]))
    assert (bounds.lower, bounds.upper) == (1.0, 4.0)


def test_the_papers_lower_bound_needs_its_trace_and_is_never_better() -> None:
    mask = np.array([1.9, 0.1])
    bounds = EuclideanBounds.from_variances(epsilon=1.0, variances=mask)
    assert bounds.paper_lower == pytest.approx(1 / math.sqrt(2))
    assert bounds.paper_lower <= bounds.lower
    assert EuclideanBounds.from_variances(epsilon=1.0, variances=2 * mask).paper_lower is None


def test_unreleased_axes_are_counted_and_left_out() -> None:
    bounds = EuclideanBounds.from_variances(epsilon=1.0, variances=np.array([np.inf, 4.0, 1.0]))
    assert (bounds.unreleased, bounds.largest, bounds.smallest, bounds.trace) == (1, 4.0, 1.0, 5.0)
    with pytest.raises(InvalidInputError, match="at least one axis"):
        EuclideanBounds.from_variances(epsilon=1.0, variances=np.array([np.inf]))


def test_the_smallest_eigenvalue_is_shown() -> None:
    bounds = EuclideanBounds.from_variances(epsilon=1.0, variances=np.array([1e-6, 1.0]))
    assert "smallest eigenvalue of Σ: 1e-06" in str(bounds)


PROMISE = Guarantee(
    mechanism="laplace",
    epsilon=2.5,
    metric="Euclidean distance",
    distance="‖x − x′‖₂",
    unit="the length of a unit vector",
    assumptions=("one release",),
)


def test_a_guarantee_is_never_shown_without_distance_unit_and_assumptions() -> None:
    assert str(PROMISE).splitlines() == [
        "laplace: 2.5·d metric local differential privacy",
        "  distance d: ‖x − x′‖₂",
        "  unit:       the length of a unit vector",
        "It holds if:",
        "  - one release",
    ]


def test_further_assumptions_come_last_and_change_nothing_else() -> None:
    further = PROMISE.assuming("a fixed model")
    assert further.assumptions == ("one release", "a fixed model")
    assert replace(further, assumptions=PROMISE.assumptions) == PROMISE


def test_a_grid_is_told_where_there_is_one() -> None:
    assert "  grid:       int8, whole steps\n" in str(PROMISE.on_grid("int8, whole steps"))


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan")])
def test_a_guarantee_needs_a_positive_epsilon(epsilon: float) -> None:
    with pytest.raises(InvalidInputError, match="epsilon must be a finite number above zero, got"):
        replace(PROMISE, epsilon=epsilon)
