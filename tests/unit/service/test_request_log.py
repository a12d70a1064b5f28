from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse

from support.veils import PRIVATE_WORD
from vecveil.service.request_log import CLIENT_LEFT, JsonLines, Metrics, RequestLog


async def ask(app: Callable[..., Awaitable[None]], metrics: Metrics, path: str = "/health") -> list[dict[str, Any]]:
    """Return the messages that a request is answered with."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "method": "GET", "headers": []}
    await RequestLog(app, metrics=metrics)(scope, None, send)
    return sent


def facts(caplog: pytest.LogCaptureFixture, event: str = "request") -> list[dict[str, Any]]:
    return [record.facts for record in caplog.records if record.getMessage() == event]  # type: ignore[attr-defined]


@pytest.fixture
def caplog(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="vecveil.gateway")
    return caplog


async def test_a_request_is_counted_logged_and_named(caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        scope["facts"] = {"client": "one"}
        await PlainTextResponse("fine", 201)(scope, receive, send)

    metrics = Metrics()
    start, _ = await ask(app, metrics)
    [found] = facts(caplog)
    assert (found["path"], found["status"], found["client"]) == ("/health", 201, "one")
    assert dict(start["headers"])[b"x-request-id"].decode() == found["request"]
    text = metrics.text().decode()
    assert 'vecveil_requests_total{path="/health",status="201"} 1.0' in text
    assert 'vecveil_request_seconds_count{path="/health"} 1.0' in text
    assert "vecveil_requests_running 0.0" in text


async def test_paths_that_are_none_are_counted_together(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    for path in (f"/{PRIVATE_WORD}", "/v1/other"):
        await ask(PlainTextResponse("no", 404), metrics, path)
    assert 'vecveil_requests_total{path="other",status="404"} 2.0' in metrics.text().decode()
    assert [found["path"] for found in facts(caplog)] == ["other", "other"]
    assert PRIVATE_WORD not in caplog.text + metrics.text().decode()


async def test_what_nobody_expected_is_a_plain_500_and_only_its_kind_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def app(*_: Any) -> None:
        raise ValueError(f"she has {PRIVATE_WORD}")

    start, body = await ask(app, Metrics())
    assert start["status"] == 500
    assert "its log has the kind of error" in json.loads(body["body"])["error"]["message"]
    assert facts(caplog, "failed")[0]["kind"] == "ValueError"
    assert facts(caplog)[0]["status"] == 500
    assert PRIVATE_WORD not in body["body"].decode() + caplog.text


async def test_who_leaves_before_the_answer_is_counted_as_that(caplog: pytest.LogCaptureFixture) -> None:
    async def app(*_: Any) -> None:
        raise ClientDisconnect

    assert await ask(app, Metrics()) == []
    assert facts(caplog)[0]["status"] == CLIENT_LEFT


async def test_a_request_that_is_cut_off_by_a_stop_is_told(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[dict[str, Any]] = []

    async def app(*_: Any) -> None:
        raise asyncio.CancelledError

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/health", "method": "GET", "headers": []}
    with pytest.raises(asyncio.CancelledError):
        await RequestLog(app, metrics=Metrics())(scope, None, send)
    assert sent[0]["status"] == 503
    assert json.loads(sent[1]["body"])["error"]["code"] == "stopping"
    assert facts(caplog)[0]["status"] == 503


async def test_what_is_no_request_is_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    seen = []

    async def app(scope: dict[str, Any], *_: Any) -> None:
        seen.append(scope["type"])

    await RequestLog(app, metrics=Metrics())({"type": "lifespan"}, None, None)
    assert seen == ["lifespan"]
    assert facts(caplog) == []


def test_an_event_is_one_line_of_json() -> None:
    record = logging.LogRecord("x", logging.WARNING, "", 0, "two\nlines", None, None)
    record.facts = {"status": 200}
    line = JsonLines().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["level"], found["event"], found["status"]) == ("warning", "two\nlines", 200)
