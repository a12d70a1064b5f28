"""What is seen of every request: its line in the log, its place in the figures, and nothing of what was in it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from vecveil.service.figures import LOGGER, Figures
from vecveil.service.refusal import RefusedError

JSON = "application/json"

GONE = 499
"""What is counted where a client left before it was answered."""

PATHS = {"/v1/embeddings", "/v1/models", "/health", "/metrics"}
"""Paths that figures tell apart; what else is asked for is counted together, or a client could fill the memory."""


def json_answer(content: dict[str, Any], status: int = 200) -> Response:
    """Return an answer in JSON."""
    return Response(orjson.dumps(content), status_code=status, media_type=JSON)


class Observed:
    """Counts every request, writes its line, and turns what nobody expected into a plain 500."""

    def __init__(self, app: Callable[..., Awaitable[None]], *, figures: Figures) -> None:
        self._app, self._figures = app, figures

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Hand a request on, and note how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, name = time.perf_counter(), 0, secrets.token_hex(8)

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            await send(message)

        self._figures.running.inc()
        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            status = GONE
        except asyncio.CancelledError:
            if not status:
                await json_answer(RefusedError(503, "the gateway is being stopped", code="stopping").body, 503)(
                    scope, receive, watched
                )
            raise
        except Exception as error:
            # Neither the client nor the log is shown what it says: it may hold a text.
            LOGGER.error("failed", extra={"facts": {"request": name, "kind": type(error).__name__}})
            if status:
                raise
            answer = json_answer(RefusedError(500, "the gateway failed; its log has the kind of error").body, 500)
            await answer(scope, receive, watched)
        finally:
            self._figures.running.dec()
            path = scope["path"] if scope["path"] in PATHS else "other"
            self._figures.answered(path, status, started, {"request": name, **scope.get("facts", {})})
