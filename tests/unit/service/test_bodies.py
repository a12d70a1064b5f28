from __future__ import annotations

from collections.abc import Sequence

import pytest
from fastapi import Request

from vecveil.core.errors import InvalidInputError
from vecveil.service.bodies import Bodies
from vecveil.service.refusal import RefusedError


def _request(*parts: bytes, length: int | None = None) -> Request:
    """Return a request whose body comes in these parts."""
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, object]:
        return waiting.pop(0)

    headers: Sequence[tuple[bytes, bytes]] = [] if length is None else [(b"content-length", b"%d" % length)]
    return Request({"type": "http", "headers": headers}, receive)


async def test_a_body_is_whole_and_held_until_it_is_answered() -> None:
    bodies = Bodies(longest=10, most=20)
    async with bodies.of(_request(b"abc", b"def")) as body:
        assert body == b"abcdef"
        assert bodies.held == 6
    assert bodies.held == 0


async def test_what_goes_beyond_the_room_is_turned_away_and_room_is_given_back() -> None:
    bodies = Bodies(longest=10, most=15)
    async with bodies.of(_request(b"a" * 10)):
        with pytest.raises(RefusedError) as refused:
            async with bodies.of(_request(b"b" * 5, b"c")):
                raise AssertionError("there was no room")
        assert (refused.value.status, refused.value.code) == (503, "overloaded")
        assert refused.value.headers == {"Retry-After": "1"}
        assert bodies.held == 10
        async with bodies.of(_request(b"b" * 5)) as body:
            assert len(body) == 5
    assert bodies.held == 0


@pytest.mark.parametrize("request_", [_request(b"a" * 6, b"b" * 6), _request(length=11)])
async def test_a_body_that_is_too_long_is_refused_and_holds_nothing(request_: Request) -> None:
    bodies = Bodies(longest=10, most=20)
    with pytest.raises(RefusedError) as refused:
        async with bodies.of(request_):
            raise AssertionError("it was too long")
    assert (refused.value.status, refused.value.code) == (413, "request_too_large")
    assert bodies.held == 0


async def test_a_failure_while_answering_gives_the_room_back() -> None:
    bodies = Bodies(longest=10, most=20)
    with pytest.raises(RuntimeError):
        async with bodies.of(_request(b"abc")):
            raise RuntimeError
    assert bodies.held == 0


def test_the_longest_body_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="held_bytes must be a whole number of at least 10, got 9"):
        Bodies(longest=10, most=9)
