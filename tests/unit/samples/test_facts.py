"""Choices by hash: fixed, even and named."""

from __future__ import annotations

from collections import Counter

from vecveil.samples.facts import Picker


def test_choices_are_pinned() -> None:
    assert [Picker("7/0/0").number(what, 1000) for what in ("age", "city", "day")] == [612, 647, 147]


def test_choices_spread_evenly_over_the_options() -> None:
    chosen = Counter(Picker(str(key)).one("color", ("red", "green", "blue")) for key in range(3000))
    assert all(900 <= number <= 1100 for number in chosen.values())
    assert len(chosen) == 3


def test_two_never_gives_the_same_place_twice() -> None:
    pairs = {Picker(str(key)).two("color", ("red", "green", "blue")) for key in range(200)}
    assert len(pairs) == 6
    assert all(first != second for first, second in pairs)
