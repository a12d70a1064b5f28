"""A model behind another OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import aiohttp
import numpy as np
import orjson

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import EndpointError
from vecveil.embedders.answer import read_answer
from vecveil.service.refusal import RefusedError
from vecveil.service.upstream import Answer, contents_of
from vecveil.veil.records import vector_contents

HOST = "the upstream server"


class RemoteUpstream:
    """Passes inputs on, tokens as tokens, and reads the clean vectors that come back.

    Args:
        url: Address up to and with `/v1`.
        model: The model's name there.
        key: Bearer key there; None sends none.
        dimensions: Length of the vectors that the veil is for.
        normalised: Whether they have length one.
        timeout: Seconds to wait for an answer.
        connections: Most connections at once.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        key: str | None,
        dimensions: int,
        normalised: bool = True,
        timeout: float = 60.0,
        connections: int = 256,
    ) -> None:
        self._url, self._model, self._dimensions = f"{url.rstrip('/')}/embeddings", model, dimensions
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._normalised, self._timeout, self._connections = normalised, timeout, connections
        self._session: aiohttp.ClientSession | None = None

    async def embed(self, inputs: list[str] | list[list[int]]) -> Answer:
        """Return the vectors of texts, or of arrays of tokens."""
        asked = orjson.dumps({"input": inputs, "model": self._model, "encoding_format": "base64"})
        status, headers, content = await self._posted(asked)
        if status != HTTPStatus.OK:
            raise _passed_on(status, headers)
        try:
            body = orjson.loads(content)
            entries = [SimpleNamespace(**entry) for entry in body["data"]]
            vectors = read_answer(
                SimpleNamespace(data=entries), rows=len(inputs), dimensions=self._dimensions, host=HOST
            )
            _require_length(vectors, normalised=self._normalised)
        except (EndpointError, KeyError, TypeError, ValueError):
            raise RefusedError(502, f"{HOST} answered with something else", code="upstream_error") from None
        return Answer(vectors=vectors, contents=contents_of(inputs), seen=vector_contents(vectors), tokens=_used(body))

    async def _posted(self, asked: bytes) -> tuple[int, Mapping[str, str], bytes]:
        for last in (False, True):
            try:
                async with self._opened().post(self._url, data=asked, allow_redirects=False) as found:
                    return found.status, found.headers, await found.read()
            except TimeoutError:
                raise RefusedError(504, f"{HOST} did not answer in time", code="upstream_timeout") from None
            except aiohttp.ClientError:
                # A connection that was kept open may have been closed at the other end meanwhile: once more, then.
                if last:
                    raise RefusedError(502, f"{HOST} can't be reached", code="upstream_unreachable") from None
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def _opened(self) -> aiohttp.ClientSession:
        # It belongs to the event loop that it is made in, and there is none yet when a gateway is put together.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                timeout=aiohttp.ClientTimeout(total=self._timeout),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
            )
        return self._session


def _require_length(vectors: Embeddings, *, normalised: bool) -> None:
    """Raise unless the vectors have the length of the veil's model's; a vector of zeros is none."""
    lengths = np.linalg.norm(vectors, axis=1)
    if not (lengths > 0).all() or (normalised and not (np.abs(lengths - 1) < 0.01).all()):
        raise EndpointError("vectors of another length")


def _used(body: dict[str, Any]) -> int:
    usage = body.get("usage")
    used = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return used if type(used) is int and used >= 0 else 0


def _passed_on(status: int, headers: Mapping[str, str]) -> RefusedError:
    """Return the refusal of the upstream for our client: its kind, and none of its words, which may hold the input."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        again = headers.get("retry-after", "")
        return RefusedError(
            429,
            f"{HOST} asks for fewer requests",
            code="rate_limit_exceeded",
            headers={"retry-after": again} if again.isdigit() else {},
        )
    if status in {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}:
        return RefusedError(400, f"{HOST} refused the input (status {status})", param="input")
    # Its 401 is about our key, not about the client's.
    return RefusedError(502, f"{HOST} refused the request (status {status})", code="upstream_error")
