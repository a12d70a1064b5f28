from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.shapes.variances import variances_from_weights


@pytest.mark.parametrize("floor", [1e-6, 0.1, 0.9])
def test_trace_gives_each_shape_a_sum_of_n(floor: float) -> None:
    for weights in (np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.2])):
        assert variances_from_weights(weights, normalize="trace", floor=floor).sum() == pytest.approx(4)


def test_level_gives_an_open_gate_the_same_noise_however_many_are_open() -> None:
    for weights in (np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])):
        assert variances_from_weights(weights, normalize="level", floor=0.1)[0] == pytest.approx(1.0)


def test_the_floor_is_what_a_closed_gate_gets() -> None:
    assert variances_from_weights(np.array([1.0, 0.0]), normalize="trace", floor=1e-6)[1] == 1e-6


@pytest.mark.parametrize("weights", [[0.0, 0.0], [-1.0, 1.0], [np.nan, 1.0]])
def test_weights_that_say_nothing_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="weights"):
        variances_from_weights(np.array(weights), normalize="trace", floor=1e-6)


@pytest.mark.parametrize("floor", [0.0, 1.0, -0.1, float("nan")])
def test_a_floor_that_leaves_nothing_below_or_above_it_is_refused(floor: float) -> None:
    with pytest.raises(InvalidInputError, match="floor must lie between 0 and 1, got"):
        variances_from_weights(np.ones(2), normalize="trace", floor=floor)
