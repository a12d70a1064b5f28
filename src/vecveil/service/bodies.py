"""Bodies of requests, of which a gateway holds so many bytes at once and no more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import Request

from vecveil.core.checks import at_least
from vecveil.service.refusal import RefusedError

WAIT = "1"
"""Seconds after which a client that was turned away may ask again."""


@dataclass(kw_only=True)
class Bodies:
    """The bodies that are being read or answered.

    Attributes:
        longest: Bytes of the longest one.
        most: Bytes of all together.
        held: Bytes that are held now.
    """

    longest: int
    most: int
    held: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        at_least(self.longest, 1, "body_bytes")
        at_least(self.most, self.longest, "held_bytes")

    @asynccontextmanager
    async def of(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a request, or refuse it before too much is held; what it takes is given back after."""
        too_long = RefusedError(
            413, f"the body must not be longer than {self.longest:,} bytes", code="request_too_large"
        )
        stated = request.headers.get("content-length", "")
        if stated.isdigit() and int(stated) > self.longest:
            raise too_long
        parts, length = [], 0
        try:
            async for part in request.stream():
                self._require_room(len(part))
                self.held += len(part)
                length += len(part)
                if length > self.longest:
                    raise too_long
                parts.append(part)
            yield b"".join(parts)
        finally:
            self.held -= length

    def _require_room(self, more: int) -> None:
        if self.held + more > self.most:
            raise RefusedError(
                503, "too much is being worked on; ask again", code="overloaded", headers={"Retry-After": WAIT}
            )
