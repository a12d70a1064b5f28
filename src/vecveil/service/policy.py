"""What a client gets: whose vectors, behind which veil, for documents and for queries."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import NDArray

from vecveil.service.clients import Client, Treatment
from vecveil.service.messages import EmbeddingRequest, answer
from vecveil.service.refusal import RefusedError
from vecveil.service.releasing import Releaser
from vecveil.service.upstream import Upstream

DOCUMENT, QUERY = "document", "query"

MOST_AT_ONCE = 65_536
"""Numbers that are written while others wait; more are written beside."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Policy:
    """How the requests of a client are answered.

    Attributes:
        client: Who asks.
        model: The veil's model; `NAME:query` asks for a query's vector, `NAME` or `NAME:document` for a document's.
        dimensions: Length of its vectors.
        upstream: Where clean vectors come from.
        documents: Protects documents.
        queries: Protects queries.
    """

    client: Client
    model: str
    dimensions: int
    upstream: Upstream
    documents: Releaser
    queries: Releaser

    @property
    def models(self) -> list[str]:
        """The names that a client may ask for."""
        sides = {DOCUMENT: self.client.documents, QUERY: self.client.queries}
        named = [f"{self.model}:{side}" for side, treatment in sides.items() if treatment != "refuse"]
        return [*([self.model] if self.client.documents != "refuse" else []), *named]

    async def answer(self, request: EmbeddingRequest) -> bytes:
        """Return the answer to a request.

        Raises:
            RefusedError: If the model is unknown, the length is another, or the release is refused.
        """
        side = self._side(request.model)
        if request.dimensions not in {None, self.dimensions}:
            raise RefusedError(
                400,
                f"dimensions must be {self.dimensions}: a veil is for whole vectors, and noise is added to those",
                param="dimensions",
                code="invalid_value",
            )
        found = await self.upstream.embed(request.inputs)
        if self.treatment(request.model) == "clean":
            rows: NDArray[Any] = found.vectors
        else:
            rows = await (self.queries if side == QUERY else self.documents).release(found)
        write = partial(answer, rows, model=request.model, encoding=request.encoding_format, tokens=found.tokens)
        return await asyncio.to_thread(write) if rows.size > MOST_AT_ONCE else write()

    def treatment(self, model: str) -> Treatment:
        """Return what is done to the vectors of those who ask for `model`."""
        return self.client.queries if self._side(model) == QUERY else self.client.documents

    def _side(self, model: str) -> str:
        name, _, side = model.rpartition(":") if model.endswith((f":{DOCUMENT}", f":{QUERY}")) else (model, "", "")
        side = side or DOCUMENT
        if f"{name}:{side}" not in self.models:
            raise RefusedError(
                404,
                "there is no such model here for this key; GET /v1/models names those that are",
                param="model",
                code="model_not_found",
            )
        return side
