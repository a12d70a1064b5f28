"""Log lines and metrics of requests, without texts or keys."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.requests import ClientDisconnect

from vecveil.service.messages import RefusedError

LOGGER = logging.getLogger("vecveil.gateway")
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

CLIENT_LEFT = 499
"""Status that is counted where a client left before it was answered."""

PATHS = {"/v1/embeddings", "/v1/models", "/v1/rerank", "/v2/rerank", "/health", "/metrics"}
"""Paths that metrics tell apart; all others are counted together, or a client could fill the memory."""


class JsonLines(logging.Formatter):
    """One line of JSON for each event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts = getattr(record, "facts", {})
        line = {"time": record.created, "level": record.levelname.lower(), "event": record.getMessage(), **facts}
        return orjson.dumps(line).decode()


class Metrics:
    """Counters of one gateway, for Prometheus.

    Args:
        clients: Whether vectors are counted for each client, by its name.
    """

    def __init__(self, *, clients: bool = False) -> None:
        self._registry = registry = CollectorRegistry()
        self._labels = ["treatment", "client"] if clients else ["treatment"]
        self.requests = Counter("vecveil_requests", "Requests answered.", ["path", "status"], registry=registry)
        self.vectors = Counter("vecveil_vectors", "Vectors returned.", self._labels, registry=registry)
        self.seconds = Histogram(
            "vecveil_request_seconds", "Time to answer.", ["path"], registry=registry, buckets=SECONDS
        )
        self.running = Gauge("vecveil_requests_running", "Requests in work.", registry=registry)

    def count_vectors(self, vectors: int, **labels: str) -> None:
        """Count vectors that were returned, by their treatment and client."""
        self.vectors.labels(**{name: labels[name] for name in self._labels}).inc(vectors)

    def text(self) -> bytes:
        """Return the metrics in Prometheus's text format."""
        return generate_latest(self._registry)


class RequestLog:
    """Middleware that counts and logs every request, and answers an unexpected error with a plain 500."""

    def __init__(self, app: Callable[..., Awaitable[None]], *, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Pass a request on, and log how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, name = time.perf_counter(), 0, secrets.token_hex(8)

        async def send_named(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            await send(message)

        self._metrics.running.inc()
        try:
            await self._app(scope, receive, send_named)
        except ClientDisconnect:
            status = CLIENT_LEFT
        except asyncio.CancelledError:
            if not status:
                stopping = RefusedError(503, "the gateway is being stopped", code="stopping")
                await stopping.response()(scope, receive, send_named)
            raise
        except Exception as error:
            # Neither the client nor the log is shown the message: it may hold a text.
            LOGGER.error("failed", extra={"facts": {"request": name, "kind": type(error).__name__}})  # noqa: TRY400
            if status:
                raise
            failed = RefusedError(500, "the gateway failed; its log has the kind of error")
            await failed.response()(scope, receive, send_named)
        finally:
            self._metrics.running.dec()
            path = scope["path"] if scope["path"] in PATHS else "other"
            seconds = time.perf_counter() - started
            self._metrics.requests.labels(path, str(status)).inc()
            self._metrics.seconds.labels(path).observe(seconds)
            facts = {"path": path, "status": status, "seconds": round(seconds, 6), "request": name}
            LOGGER.info("request", extra={"facts": {**facts, **scope.get("facts", {})}})
