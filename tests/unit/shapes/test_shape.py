from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.shapes import NoiseShape
from vecveil.shapes.shape import variances_from_weights


def test_a_shape_is_diagonal_without_axes_and_rotated_with_them() -> None:
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    assert not NoiseShape(variances=np.ones(3)).rotated
    assert NoiseShape(variances=np.ones(3), axes=axes).rotated


def test_infinite_variances_are_axes_not_released() -> None:
    shape = NoiseShape(variances=np.array([np.inf, 1.0, 2.0]))
    assert (shape.dimensions, shape.released) == (3, 2)


def test_a_shape_cannot_be_changed_after_birth() -> None:
    given = np.ones(3)
    shape = NoiseShape(variances=given)
    given[0] = 9
    assert shape.variances[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        shape.variances[0] = 9


@pytest.mark.parametrize(
    ("variances", "message"),
    [
        ([1.0, 0.0], "above zero"),
        ([1.0, -1.0], "above zero"),
        ([1.0, np.nan], "above zero"),
        ([np.inf, np.inf], "at least one axis"),
        ([], "one number per axis"),
        ([[1.0]], "one number per axis"),
    ],
)
def test_variances_that_make_no_shape_are_refused(variances: list[float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        NoiseShape(variances=np.array(variances))


def test_axes_and_center_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="orthonormal"):
        NoiseShape(variances=np.ones(2), axes=np.ones((2, 2)))
    with pytest.raises(InvalidInputError, match="center must be 2 finite numbers"):
        NoiseShape(variances=np.ones(2), center=np.ones(3))


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
