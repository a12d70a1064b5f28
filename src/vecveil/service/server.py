"""The server that runs the gateway."""

from __future__ import annotations

import logging
import socket
import sys
from ipaddress import ip_address

import uvicorn

from vecveil.core.errors import InvalidInputError
from vecveil.service.app import create_app
from vecveil.service.clients import Clients
from vecveil.service.gateway import Gateway
from vecveil.service.request_log import LOGGER, JsonLines

STOP_SECONDS = 10
"""Time beyond the upstream's that requests in work may take when the gateway is asked to stop."""

KEEP_ALIVE = 75
"""Seconds that an idle connection is kept: longer than clients keep theirs, or one asks just as it is closed."""


def is_local(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
    LOGGER.addHandler(lines)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
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
    )
    uvicorn.Server(config).run(sockets=[listening])
