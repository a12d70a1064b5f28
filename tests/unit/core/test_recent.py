from __future__ import annotations

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.core.recent import Recent


def test_the_oldest_gives_way() -> None:
    kept: Recent[int, str] = Recent(2)
    for number in range(4):
        kept[number] = str(number)
    assert dict(kept) == {2: "2", 3: "3"}


def test_one_entry_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="most must be a whole number of at least 1, got 0"):
        Recent(0)
