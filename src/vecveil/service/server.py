"""Running the gateway."""

from __future__ import annotations

import logging
import sys
from ipaddress import ip_address

import uvicorn

from vecveil.core.errors import InvalidInputError
from vecveil.service.app import create_app
from vecveil.service.figures import LOGGER, JsonLines
from vecveil.service.gateway import Gateway

PATIENCE = 30
"""Seconds that requests in work may take to end when the gateway is asked to stop."""


def is_local(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(gateway: Gateway, *, host: str, port: int) -> None:
    """Serve until asked to stop; requests in work are finished first.

    Raises:
        InvalidInputError: If others could reach a gateway that asks for no keys.
    """
    if gateway.clients.open and not is_local(host):
        raise InvalidInputError(
            f"{host} can be reached by others, and no bearer keys are set: name a file of clients "
            "(vecveil client new), or serve on 127.0.0.1"
        )
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(JsonLines())
    LOGGER.addHandler(lines)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    LOGGER.info("serving", extra={"facts": {"host": host, "port": port, "clients": sorted(gateway.policies)}})
    config = uvicorn.Config(
        create_app(gateway),
        host=host,
        port=port,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=PATIENCE,
        server_header=False,
    )
    uvicorn.Server(config).run()
