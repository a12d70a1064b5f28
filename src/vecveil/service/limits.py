"""Limits on what one client may ask, so that others are answered."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import Request

from vecveil.service.messages import RefusedError

BODY_SECONDS = 60.0
"""Time that the body of a request may take to arrive."""

MOST_REQUESTS = 256
"""Requests of one client that are in work at the same time."""

BURST_SECONDS = 60.0
"""A client that has been quiet may send the texts of this much time at once."""


@dataclass(kw_only=True, eq=False)
class BodyLimit:
    """Limits of the request bodies that are being read or answered.

    A client may hold as much as is left free by all, so that it never takes the last of it: one that holds all it can
    leaves a half, two of them a third.

    Attributes:
        longest: Bytes of one body at most.
        most: Bytes of all together at most.
        held: Bytes that each client holds now.
        requests: Requests of each client that are in work now.
    """

    longest: int
    most: int
    held: Counter[str] = field(init=False, default_factory=Counter)
    requests: Counter[str] = field(init=False, default_factory=Counter)

    @asynccontextmanager
    async def read(self, request: Request, *, client: str) -> AsyncIterator[bytes]:
        """Yield the body of a request, or refuse it before too much is held; it counts until the block ends."""
        too_long = RefusedError(
            413, f"the body must not be longer than {self.longest:,} bytes", code="request_too_large"
        )
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and (len(stated) > len(str(self.longest)) or int(stated) > self.longest):
            raise too_long
        if self.requests[client] >= MOST_REQUESTS:
            raise ask_later(f"a client may have {MOST_REQUESTS} requests in work at the same time")
        parts, length = [], 0
        self.requests[client] += 1
        try:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    async for part in request.stream():
                        if self.held[client] + len(part) > self.most - self.held.total():
                            raise ask_later("too much of this client is being worked on")
                        self.held[client] += len(part)
                        length += len(part)
                        if length > self.longest:
                            raise too_long
                        parts.append(part)
            except TimeoutError:
                late = f"the body did not arrive within {BODY_SECONDS:.0f} seconds"
                raise RefusedError(408, late, code="request_timeout", headers={"Connection": "close"}) from None
            yield b"".join(parts)
        finally:
            self.held[client] -= length
            self.requests[client] -= 1


@dataclass(kw_only=True, eq=False)
class TextRate:
    """Limit of the texts that one client may send.

    Attributes:
        per_minute: Texts in a minute.
    """

    per_minute: float
    _free_at: float = field(init=False, default=-math.inf)

    def spend(self, texts: int) -> None:
        """Count texts, or refuse them while earlier ones are not paid off; a request is taken whole or not at all."""
        now = time.monotonic()
        begin = max(self._free_at, now - BURST_SECONDS)
        if begin > now:
            raise ask_later(f"a client may send {self.per_minute:,.0f} texts a minute", seconds=math.ceil(begin - now))
        self._free_at = begin + texts * 60 / self.per_minute


def ask_later(message: str, *, seconds: int = 1) -> RefusedError:
    """Return the refusal of a request that can be answered later."""
    again = {"Retry-After": str(seconds)}
    return RefusedError(429, f"{message}; ask again", code="rate_limit_exceeded", headers=again)
