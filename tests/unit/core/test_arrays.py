from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.arrays import frozen, spread_rows, to_lists, to_unit_length


def test_a_frozen_array_is_a_copy_in_double_precision_that_nobody_can_write_to() -> None:
    original = np.ones(3, dtype=np.float32)
    copy = frozen(original)
    original[0] = 7
    assert copy.tolist() == [1.0, 1.0, 1.0]
    assert copy.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 2


def test_rows_become_lists_of_python_floats() -> None:
    lists = to_lists(np.array([[1, 2], [3, 4]], dtype=np.int8))
    assert lists == [[1.0, 2.0], [3.0, 4.0]]
    assert all(type(number) is float for row in lists for number in row)


@pytest.mark.parametrize(
    ("rows", "most", "found"),
    [
        (5, None, [0, 1, 2, 3, 4]),
        (5, 9, [0, 1, 2, 3, 4]),
        (5, 3, [0, 2, 4]),
        (10, 4, [0, 3, 6, 9]),
        (1, 3, [0]),
        (0, 3, []),
        (0, None, []),
    ],
)
def test_rows_are_taken_from_the_first_to_the_last(rows: int, most: int | None, found: list[int]) -> None:
    assert spread_rows(rows, most).tolist() == found


def test_rows_come_to_length_one_and_zeros_stay_zeros() -> None:
    assert to_unit_length(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]
