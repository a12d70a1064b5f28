from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.shapes.normalisation import variances_from_weights


def test_trace_gives_each_shape_the_same_sum() -> None:
    for weights in (np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.2])):
        variances = variances_from_weights(weights, normalise="trace", floor=1e-6)
        assert variances.sum() == pytest.approx(4, abs=1e-5)


def test_level_gives_an_open_gate_the_same_noise_however_many_are_open() -> None:
    for weights in (np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])):
        assert variances_from_weights(weights, normalise="level", floor=0.1)[0] == pytest.approx(1.1)


def test_the_floor_is_what_a_closed_gate_gets() -> None:
    assert variances_from_weights(np.array([1.0, 0.0]), normalise="trace", floor=1e-6)[1] == 1e-6


@pytest.mark.parametrize("weights", [[0.0, 0.0], [-1.0, 1.0], [np.nan, 1.0]])
def test_weights_that_say_nothing_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="weights"):
        variances_from_weights(np.array(weights), normalise="trace", floor=1e-6)


def test_a_floor_of_zero_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"floor must be .* got 0\.0"):
        variances_from_weights(np.ones(2), normalise="trace", floor=0.0)
