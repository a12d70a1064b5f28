"""Logs as lines of JSON, without texts, vectors and keys, and figures for Prometheus."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import Any

import orjson
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

LOGGER = logging.getLogger("vecveil.gateway")
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class JsonLines(logging.Formatter):
    """One line of JSON for each event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        facts = getattr(record, "facts", {})
        line = {"time": record.created, "level": record.levelname.lower(), "event": record.getMessage(), **facts}
        return orjson.dumps(line).decode()


@dataclass(frozen=True, eq=False)
class Figures:
    """What the gateway has done, counted; each gateway for itself.

    Attributes:
        registry: Where Prometheus reads them.
    """

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: Counter = field(init=False)
    vectors: Counter = field(init=False)
    seconds: Histogram = field(init=False)
    running: Gauge = field(init=False)

    def __post_init__(self) -> None:
        made: dict[str, Any] = {
            "requests": Counter("vecveil_requests", "Requests answered.", ["path", "status"], registry=self.registry),
            "vectors": Counter("vecveil_vectors", "Vectors returned.", ["client", "treatment"], registry=self.registry),
            "seconds": Histogram(
                "vecveil_request_seconds", "Time to answer.", ["path"], registry=self.registry, buckets=SECONDS
            ),
            "running": Gauge("vecveil_requests_running", "Requests in work.", registry=self.registry),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def text(self) -> bytes:
        """Return the figures as Prometheus reads them."""
        return generate_latest(self.registry)

    def answered(self, path: str, status: int, started: float, facts: dict[str, Any]) -> None:
        """Count a request, and write its line."""
        seconds = time.perf_counter() - started
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)
        LOGGER.info("request", extra={"facts": {"path": path, "status": status, "seconds": round(seconds, 6), **facts}})
