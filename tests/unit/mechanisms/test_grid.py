from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.mechanisms.grid import GRIDS, Grid


@pytest.mark.parametrize("kind", GRIDS)
@given(coordinate=st.floats(1e-3, 1.0), values=st.lists(st.floats(-100, 100), min_size=1, max_size=20))
def test_values_go_to_the_nearest_point_of_the_grid(kind: str, coordinate: float, values: list[float]) -> None:
    grid = Grid.for_coordinate(kind, coordinate)
    rounded = grid.round(np.array([values])).astype(np.float64) * (grid.step if kind == "int8" else 1.0)
    edge = grid.step * {"float32": 2**23, "float16": 2**10, "int8": 127}[kind]
    expected = np.clip(np.round(np.array([values]) / grid.step) * grid.step, -edge, edge)
    np.testing.assert_array_equal(rounded, expected)


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_every_point_of_the_grid_is_exact_in_its_type(kind: str) -> None:
    grid = Grid.for_coordinate(kind, 0.05)
    steps = np.arange(-(2**10), 2**10 + 1, dtype=np.float64)
    outermost = {"float32": 2**23, "float16": 2**10}[kind]
    for whole in (steps, steps + outermost - 2**10, steps - outermost + 2**10):
        np.testing.assert_array_equal(
            grid.round((whole * grid.step)[np.newaxis])[0].astype(np.float64) / grid.step, whole
        )


def test_the_step_is_a_power_of_two_below_the_coordinate() -> None:
    for kind, share in (("float32", 2**15), ("float16", 2**5), ("int8", 2**4)):
        assert Grid.for_coordinate(kind, 0.05).step == 2**-5 / share
        assert Grid.for_coordinate(kind, 2**-5).step == 2**-5 / share


def test_minus_zero_is_no_point_of_the_grid() -> None:
    rounded = Grid(kind="float32", step=0.25).round(np.array([[-0.01, 0.01, -0.0]]))
    assert not np.signbit(rounded).any()


@pytest.mark.parametrize("step", [0.3, 0.0, -0.5, np.inf, np.nan])
def test_a_step_that_is_no_power_of_two_is_refused(step: float) -> None:
    with pytest.raises(InvalidInputError, match="step"):
        Grid(kind="int8", step=step)


def test_a_grid_that_its_type_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"float16 can't hold a grid of step 128"):
        Grid(kind="float16", step=128.0)
    assert Grid(kind="float32", step=128.0).step == 128.0
    with pytest.raises(InvalidInputError, match=r"float16 can't hold"):
        Grid(kind="float16", step=2.0**-30)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown grid 'int4'"):
        Grid.for_coordinate("int4", 1.0)


def test_a_grid_says_what_it_is() -> None:
    assert str(Grid(kind="int8", step=0.25)) == "int8, whole steps of 0.25 up to 31.75"


@pytest.mark.parametrize("kind", GRIDS)
def test_memory_layout_makes_no_difference_and_values_stay_as_they_are(kind: str) -> None:
    grid, values = Grid(kind=kind, step=2.0**-4), np.random.default_rng(0).standard_normal((6, 8))
    before, wanted = values.copy(), grid.round(values)
    assert wanted.dtype == grid.dtype == np.dtype(kind)
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(grid.round(np.asfortranarray(values)), wanted)
    np.testing.assert_array_equal(grid.round(values[0]), wanted[0])
    np.testing.assert_array_equal(grid.round(np.repeat(values, 2, axis=0)[::2]), wanted)


@pytest.mark.parametrize("kind", GRIDS)
def test_released_numbers_stand_for_multiples_of_the_step(kind: str) -> None:
    grid = Grid(kind=kind, step=2.0**-4)
    released = grid.round(np.array([[0.26, -1.0, 500.0]]))
    expected = [0.25, -1.0, {"float32": 500.0, "float16": 64.0, "int8": 7.9375}[kind]]
    assert grid.values(released).tolist() == [expected]


def test_what_is_infinite_is_at_the_edge() -> None:
    rounded = Grid(kind="int8", step=0.25).round(np.array([np.inf, -np.inf, 0.3]))
    assert rounded.tolist() == [127, -127, 1]


@pytest.mark.parametrize("step", [2.0**-1001, 2.0**901])
def test_a_step_beyond_numbers_is_refused(step: float) -> None:
    with pytest.raises(InvalidInputError, match=r"must lie between 2\^-1000 and 2\^900"):
        Grid(kind="int8", step=step)
