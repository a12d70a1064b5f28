"""Clean vectors from another OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

import aiohttp
import orjson

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import VecveilError
from vecveil.embedders.openai import read_answer
from vecveil.service.messages import RefusedError
from vecveil.service.upstream import CleanVectors, digest_inputs

HOST = "the upstream server"


@dataclass(kw_only=True, eq=False)
class RemoteUpstream:
    """Passes inputs on, tokens as tokens, and reads the clean vectors that come back.

    Attributes:
        url: Address up to and with `/v1`.
        model: The model's name there.
        key: Bearer key there; None sends none.
        check: Raises unless vectors can be those of the veil's model.
        timeout: Seconds to wait for an answer.
        connections: Most connections at once.
    """

    url: str
    model: str
    key: str | None = field(repr=False)
    check: Callable[[Embeddings], Embeddings]
    timeout: float = 60.0
    connections: int = 1024
    _session: aiohttp.ClientSession | None = field(init=False, default=None)

    async def embed(self, inputs: list[str] | list[list[int]], *, client: str = "") -> CleanVectors:
        """Return the vectors of texts, or of arrays of tokens."""
        del client  # There are connections enough for all, and the server there decides whom it answers first.
        asked = orjson.dumps({"input": inputs, "model": self.model, "encoding_format": "base64"})
        status, headers, content = await self._post(asked)
        if status != HTTPStatus.OK:
            raise _translate_refusal(status, headers)
        try:
            body = orjson.loads(content)
            entries = [SimpleNamespace(**entry) for entry in body["data"]]
            vectors = read_answer(SimpleNamespace(data=entries), rows=len(inputs), dimensions=None, host=HOST)
            vectors = self.check(vectors)
        except (VecveilError, KeyError, TypeError, ValueError):
            raise RefusedError(502, f"{HOST} answered with something else", code="upstream_error") from None
        return CleanVectors(vectors=vectors, contents=digest_inputs(inputs), tokens=_read_usage(body))

    async def _post(self, asked: bytes) -> tuple[int, Mapping[str, str], bytes]:
        url = f"{self.url.rstrip('/')}/embeddings"
        for last in (False, True):
            try:
                async with self._open_session().post(url, data=asked, allow_redirects=False) as answer:
                    return answer.status, answer.headers, await answer.read()
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

    def _open_session(self) -> aiohttp.ClientSession:
        # It belongs to the event loop that it is made in, and there is none yet when a gateway is put together.
        if self._session is None:
            bearer = {"Authorization": f"Bearer {self.key}"} if self.key else {}
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self.connections),
                timeout=aiohttp.ClientTimeout(total=self.timeout),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Content-Type": "application/json", **bearer},
            )
        return self._session


def _read_usage(body: dict[str, Any]) -> int:
    usage = body.get("usage")
    used = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return used if type(used) is int and used >= 0 else 0


def _translate_refusal(status: int, headers: Mapping[str, str]) -> RefusedError:
    """Return the upstream's refusal for our client: its kind, and none of its words, which may hold the input."""
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
