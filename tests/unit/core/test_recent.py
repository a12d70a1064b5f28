from __future__ import annotations

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.core.recent import Recent


def test_what_was_made_is_not_made_again_until_it_has_given_way() -> None:
    made: list[int] = []

    def make(number: int) -> str:
        made.append(number)
        return str(number)

    kept: Recent[int, str] = Recent(2)
    for number in (1, 2, 1, 3, 2, 1):
        assert kept.get(number, lambda number=number: make(number)) == str(number)  # type: ignore[misc]
    assert made == [1, 2, 3, 1]


def test_one_thing_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="most must be a whole number of at least 1, got 0"):
        Recent(0)
