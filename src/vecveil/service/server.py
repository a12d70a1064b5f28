"""The server that runs the gateway."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections import Counter
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from vecveil.core.errors import InvalidInputError
from vecveil.service.app import create_app, is_local
from vecveil.service.clients import Clients
from vecveil.service.gateway import Gateway
from vecveil.service.messages import RefusedError
from vecveil.service.request_log import LOGGER, JsonLines

STOP_SECONDS = 10
"""Time beyond the upstream's that requests in work may take when the gateway is asked to stop."""

KEEP_ALIVE = 75
"""Seconds that an idle connection is kept: longer than clients keep theirs, or one asks just as it is closed."""

HEADER_SECONDS = 10.0
"""Time that the header of a request may take to arrive, counted from the connection or from its first byte."""

ANSWER_SECONDS = 60.0
"""Time that a client may take to read what it is sent."""

HEADER_BYTES, MOST_HEADERS = 2**16, 100
"""Length of a header at most, and lines in it."""

MOST_PIPELINED = 8
"""Requests that a connection may send ahead of its answers."""

MOST_CONNECTIONS = 1024
"""Open connections; where there are more, some whose request has not come in full are closed."""

MOST_FILES = 16_384
"""Files and connections that the process asks the system for, where that allows fewer."""


class LimitedProtocol(HttpToolsProtocol):
    """HTTP on one connection, with limits that uvicorn does not have.

    A header must not be too long, nor arrive or an answer leave too slowly. Where there are too many connections, the
    address that has the most of those whose request has not come in full loses the oldest sixteenth of them.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._unread = 0
        self._too_long = False
        self._active_at = self.loop.time()

    @property
    def is_waiting(self) -> bool:
        """Whether no request is in work: the header of the next has not come, or not in full."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_unfinished(self) -> bool:
        """Whether a request is still to come, or the rest of its body."""
        return self.is_waiting or bool(self.cycle and self.cycle.more_body)

    @property
    def address(self) -> str:
        """The address at the other end."""
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, and close another connection where there are too many."""
        super().connection_made(transport)
        self._limit_time("header", HEADER_SECONDS)
        if len(self.connections) > MOST_CONNECTIONS:
            waiting = [one for one in self.connections if isinstance(one, LimitedProtocol) and one.is_unfinished]
            count = Counter(one.address for one in waiting)
            waiting.sort(key=lambda one: (-count[one.address], one._active_at))
            for one in waiting[: max(1, len(waiting) // 16)]:
                one.abort()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        self._active_at = self.loop.time()
        self._unread += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unread > HEADER_BYTES:
            self._too_long = True
            self.send_400_response("")
        elif self.is_waiting:
            self._limit_time("header", HEADER_SECONDS)
        else:
            self._end_limit("header")

    def on_headers_complete(self) -> None:
        """Take a request on, unless its header is too long, or others before it wait for their answers."""
        length = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        self._too_long = length > HEADER_BYTES or len(self.headers) > MOST_HEADERS
        if self._too_long or len(self.pipeline) >= MOST_PIPELINED:
            # The parser stops, and has uvicorn answer with 400.
            raise ValueError
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body: what has come so far was no endless header."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take the end of a request."""
        self._unread = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, in OpenAI's form, and close the connection."""
        del msg
        refusal = RefusedError(400, "this is no valid HTTP request", code="invalid_request")
        if self._too_long:
            limit = f"{HEADER_BYTES:,} bytes or {MOST_HEADERS} lines"
            refusal = RefusedError(431, f"the header must not be longer than {limit}", code="header_too_large")
        answer = refusal.response()
        lines = [b"HTTP/1.1 %d " % refusal.status, HTTPStatus(refusal.status).phrase.encode(), b"\r\n"]
        for name, value in [*answer.raw_headers, (b"connection", b"close")]:
            lines += [name, b": ", value, b"\r\n"]
        self.transport.write(b"".join([*lines, b"\r\n", bytes(answer.body)]))
        self.transport.close()

    def pause_writing(self) -> None:
        """Wait for the client to read, though not for ever."""
        super().pause_writing()
        self._limit_time("answer", ANSWER_SECONDS)

    def resume_writing(self) -> None:
        """Write on."""
        super().resume_writing()
        self._end_limit("answer")

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        super().connection_lost(exc)
        for name in [*self._timers]:
            self._end_limit(name)

    def abort(self) -> None:
        """Close the connection, whatever waits to be written."""
        self.connections.discard(self)
        self.transport.abort()

    def _limit_time(self, name: str, seconds: float) -> None:
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, self.abort)

    def _end_limit(self, name: str) -> None:
        if name in self._timers:
            self._timers.pop(name).cancel()


def require_guarded(clients: Clients, host: str) -> None:
    """Raise if others could reach a gateway that asks for no keys."""
    if clients.open and not is_local(host):
        raise InvalidInputError(
            f"{host} can be reached by others, and no bearer keys are set: name a file of clients "
            "(vecveil client new), or serve on 127.0.0.1"
        )


def serve(gateway: Gateway, *, host: str, port: int) -> None:
    """Serve until asked to stop; requests in work are finished first.

    Raises:
        InvalidInputError: If others could reach a gateway that asks for no keys.
    """
    require_guarded(gateway.clients, host)
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLines())
    LOGGER.setLevel(logging.INFO)
    # What uvicorn, the ledger and others warn of gets the same form: without tracebacks, which may hold a text.
    logging.captureWarnings(capture=True)
    for logger in (LOGGER, logging.getLogger("uvicorn"), logging.getLogger("py.warnings")):
        logger.addHandler(lines)
        logger.propagate = False
    _raise_file_limit()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise InvalidInputError(f"can't listen on {host}, port {port}: {error.strerror or error}") from None
    port = listening.getsockname()[1]
    LOGGER.info("serving", extra={"facts": {"host": host, "port": port, "clients": sorted(gateway.handlers)}})
    config = uvicorn.Config(
        create_app(gateway),
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=int(gateway.settings.timeout) + STOP_SECONDS,
        timeout_keep_alive=KEEP_ALIVE,
        server_header=False,
        http=LimitedProtocol,
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[listening])


def _raise_file_limit() -> None:
    """Ask the system for enough open files for all connections, as far as it allows."""
    if sys.platform != "win32":
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
