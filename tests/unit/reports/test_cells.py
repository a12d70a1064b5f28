from __future__ import annotations

import pytest

from vecveil.audit.estimate import Estimate
from vecveil.reports.cells import Cell, count, number, share, significant, words

ESTIMATE = Estimate(value=0.531, low=0.5, high=0.5625)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (share(ESTIMATE), "53.1% [50.0, 56.2]"),
        (number(ESTIMATE), "0.531 [0.500, 0.562]"),
        (number(Estimate(value=0.5, low=0.5, high=0.5)), "0.500"),
        (share(None), "–"),
        (share(float("nan")), "–"),
        (significant(1280.4), "1,280"),
        (significant(-3.14159), "-3.14"),
        (count(12345), "12,345"),
        (words(""), "–"),
    ],
)
def test_people_read_rounded_numbers(cell: Cell, text: str) -> None:
    assert str(cell) == text
