from __future__ import annotations

from vecveil.core.percent import percent


def test_a_share_is_a_whole_percentage_unless_digits_are_asked_for() -> None:
    assert (percent(0.837), percent(0.0625, 1), percent(1.0)) == ("84 %", "6.2 %", "100 %")
