"""A model behind another OpenAI-compatible server."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx
import orjson

from vecveil.core.errors import EndpointError
from vecveil.embedders.answer import read_answer
from vecveil.service.refusal import RefusedError
from vecveil.service.upstream import Answer, contents_of


class RemoteUpstream:
    """Passes inputs on, tokens as tokens, and reads the clean vectors that come back.

    Args:
        url: Address up to and with `/v1`.
        model: The model's name there.
        key: Bearer key there; None sends none.
        dimensions: Length of the vectors that the veil is for.
        timeout: Seconds to wait for an answer.
        connections: Most connections at once.
        transport: For tests: what takes the requests in place of the network.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        key: str | None,
        dimensions: int,
        timeout: float = 60.0,
        connections: int = 256,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._model, self._dimensions = model, dimensions
        self._client = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers={} if key is None else {"Authorization": f"Bearer {key}"},
            timeout=timeout,
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
            transport=transport,
            follow_redirects=False,
        )

    async def embed(self, inputs: list[str] | list[list[int]]) -> Answer:
        """Return the vectors of texts, or of arrays of tokens."""
        asked = {"input": inputs, "model": self._model, "encoding_format": "base64"}
        try:
            found = await self._client.post(
                "/embeddings", content=orjson.dumps(asked), headers={"Content-Type": "application/json"}
            )
        except httpx.TimeoutException:
            raise RefusedError(504, "the upstream server did not answer in time", code="upstream_timeout") from None
        except httpx.HTTPError:
            raise RefusedError(502, "the upstream server can't be reached", code="upstream_unreachable") from None
        if found.status_code != httpx.codes.OK:
            raise _passed_on(found)
        try:
            body = orjson.loads(found.content)
            entries = [SimpleNamespace(**entry) for entry in body["data"]]
            vectors = read_answer(
                SimpleNamespace(data=entries), rows=len(inputs), dimensions=self._dimensions, host="the upstream server"
            )
        except (EndpointError, KeyError, TypeError, ValueError):
            raise RefusedError(502, "the upstream server answered with something else", code="upstream_error") from None
        return Answer(vectors=vectors, contents=contents_of(inputs), pinned=False, tokens=_used(body))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _used(body: dict[str, Any]) -> int:
    usage = body.get("usage")
    used = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return used if isinstance(used, int) and used >= 0 else 0


def _passed_on(found: httpx.Response) -> RefusedError:
    """Return the refusal of the upstream for our client: its kind, and none of its words, which may hold the input."""
    status = found.status_code
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return RefusedError(429, "the upstream server asks for fewer requests", code="rate_limit_exceeded")
    if status in {httpx.codes.BAD_REQUEST, httpx.codes.REQUEST_ENTITY_TOO_LARGE, httpx.codes.UNPROCESSABLE_ENTITY}:
        return RefusedError(400, f"the upstream server refused the input (status {status})", param="input")
    # Its 401 is about our key, not about the client's.
    return RefusedError(502, f"the upstream server refused the request (status {status})", code="upstream_error")
