from __future__ import annotations

from collections.abc import Iterator

import pytest

from vecveil.core.ahead import one_ahead


def test_items_keep_their_order() -> None:
    assert list(one_ahead(iter(range(100)))) == list(range(100))
    assert list(one_ahead(iter([None, 0, ""]))) == [None, 0, ""]
    assert list(one_ahead(iter([]))) == []


def test_no_more_than_one_is_fetched_ahead() -> None:
    fetched: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            fetched.append(number)
            yield number

    ahead = one_ahead(items())
    assert next(ahead) == 0
    ahead.close()
    assert fetched in ([0], [0, 1])


def test_an_error_comes_behind_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    ahead = one_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="broken"):
        next(ahead)
