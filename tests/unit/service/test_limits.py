from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import pytest
from fastapi import Request

from vecveil.service import limits
from vecveil.service.limits import BodyLimit, TextRate
from vecveil.service.messages import RefusedError


def _request(*parts: bytes, length: str = "") -> Request:
    """Return a request whose body comes in these parts."""
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, object]:
        return waiting.pop(0)

    headers: Sequence[tuple[bytes, bytes]] = [(b"content-length", length.encode())]
    return Request({"type": "http", "headers": headers}, receive)


async def test_a_body_is_whole_and_held_until_it_is_answered() -> None:
    bodies = BodyLimit(longest=10, most=20)
    async with bodies.read(_request(b"abc", b"def"), client="one") as body:
        assert body == b"abcdef"
        assert (bodies.held["one"], bodies.requests["one"]) == (6, 1)
    assert (bodies.held["one"], bodies.requests["one"]) == (0, 0)


async def test_a_client_may_hold_half_and_leaves_the_rest_to_others() -> None:
    bodies = BodyLimit(longest=10, most=20)
    async with bodies.read(_request(b"a" * 10), client="one"):
        with pytest.raises(RefusedError) as refused:
            async with bodies.read(_request(b"b"), client="one"):
                raise AssertionError("it was over the limit")
        assert (refused.value.status, refused.value.code) == (429, "rate_limit_exceeded")
        assert refused.value.headers == {"Retry-After": "1"}
        assert bodies.held["one"] == 10
        async with bodies.read(_request(b"b" * 5), client="two") as body:
            assert len(body) == 5
    assert bodies.held.total() == 0


async def test_clients_that_hold_all_they_can_never_take_the_last() -> None:
    bodies = BodyLimit(longest=10, most=1000)
    async with contextlib.AsyncExitStack() as held:
        for client in ("one", "two", "three"):
            with contextlib.suppress(RefusedError):
                for _ in range(200):
                    await held.enter_async_context(bodies.read(_request(b"a" * 10), client=client))
            assert 100 <= bodies.held[client] <= 500
        async with bodies.read(_request(b"a" * 10), client="four"):
            assert bodies.held.total() < 1000


async def test_a_client_has_so_many_requests_in_work_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_REQUESTS", 1)
    bodies = BodyLimit(longest=10, most=100)
    async with bodies.read(_request(b"a"), client="one"):
        with pytest.raises(RefusedError, match="1 requests in work") as refused:
            async with bodies.read(_request(b"b"), client="one"):
                raise AssertionError("it was one too many")
        assert (refused.value.status, refused.value.code) == (429, "rate_limit_exceeded")
        async with bodies.read(_request(b"b"), client="two") as body:
            assert body == b"b"


async def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.01)

    async def receive() -> dict[str, object]:
        await asyncio.sleep(60)
        raise AssertionError("it was waited for")

    bodies = BodyLimit(longest=10, most=20)
    with pytest.raises(RefusedError) as refused:
        async with bodies.read(Request({"type": "http", "headers": []}, receive), client="one"):
            raise AssertionError("there was no body")
    assert (refused.value.status, refused.value.code) == (408, "request_timeout")
    assert refused.value.headers == {"Connection": "close"}
    assert bodies.requests["one"] == 0


@pytest.mark.parametrize("request_", [_request(b"a" * 6, b"b" * 6), _request(length="11"), _request(length="9" * 5000)])
async def test_a_body_that_is_too_long_is_refused_and_holds_nothing(request_: Request) -> None:
    bodies = BodyLimit(longest=10, most=20)
    with pytest.raises(RefusedError) as refused:
        async with bodies.read(request_, client="one"):
            raise AssertionError("it was too long")
    assert (refused.value.status, refused.value.code) == (413, "request_too_large")
    assert bodies.held.total() == 0


async def test_a_failure_while_answering_gives_its_bytes_back() -> None:
    bodies = BodyLimit(longest=10, most=20)
    with pytest.raises(RuntimeError):
        async with bodies.read(_request(b"abc"), client="one"):
            raise RuntimeError
    assert bodies.held.total() == 0


def test_texts_are_counted_in_whole_requests_and_paid_off_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(limits.time, "monotonic", lambda: now)
    rate = TextRate(per_minute=60)
    rate.spend(50)
    rate.spend(40)
    with pytest.raises(RefusedError, match="60 texts a minute; ask again") as refused:
        rate.spend(1)
    assert (refused.value.status, refused.value.code) == (429, "rate_limit_exceeded")
    assert refused.value.headers == {"Retry-After": "30"}
    now += 30
    rate.spend(1)
    now += 3600
    rate.spend(61)
    with pytest.raises(RefusedError):
        rate.spend(1)
