"""Gateways to ask: in this process, and in one of their own."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from support.command_line import start
from support.veils import made_veil
from vecveil.embedders import Fingerprint

MODEL = "words-8"


def gateway_veil(place: Path, *, epsilon: float = 50.0, dimensions: int = 8) -> Path:
    """Return the folder of a veil for the vectors of an `EmbeddingServer`."""
    fingerprint = Fingerprint(model=MODEL, revision="1", dimensions=dimensions, normalized=True)
    made_veil(epsilon=epsilon, dimensions=dimensions, fingerprint=fingerprint).save(place, overwrite=True)
    return place


@contextmanager
def running_gateway(
    *arguments: object, environment: Mapping[str, str] | None = None, before: str = ""
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Yield the address of `vecveil serve`, up and answering, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = start("serve", *arguments, "--port", port, environment=environment, before=before)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address, process)
        yield address, process
    finally:
        process.kill()
        process.communicate()


def _wait(address: str, process: subprocess.Popen[str]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise AssertionError(process.communicate()[1])
        try:
            if httpx.get(f"{address}/health").status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the gateway did not come up")


def log_lines(text: str) -> list[dict[str, Any]]:
    """Return the lines of a gateway's log."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]
