from __future__ import annotations

import pytest

from vecveil.core.arrays import evenly


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
    assert evenly(rows, most).tolist() == found
