"""Answers to the requests of one client."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from numpy.typing import NDArray

from vecveil.core.errors import ConceptTimeoutError, VecveilError
from vecveil.service.clients import Client, Treatment
from vecveil.service.limits import TextRate
from vecveil.service.messages import EmbeddingRequest, RefusedError, invalid, write_answer
from vecveil.service.release_queue import ReleaseQueue
from vecveil.service.turns import ClientTurns, count_characters
from vecveil.service.upstream import TokenReader, Upstream, digest_inputs
from vecveil.veil.words import RewrittenTexts

TEXT_CHARACTERS = 4_000
"""A longer text counts as several by the limit of texts a minute."""

MOST_AT_ONCE = 65_536
"""Numbers of an answer that is written on the event loop; larger ones are written on another thread."""


class Side(NamedTuple):
    """What a client gets for its documents, or for its queries: clean vectors, or those that a queue protects."""

    treatment: Treatment
    queue: ReleaseQueue


@dataclass(frozen=True, kw_only=True, eq=False)
class ClientHandler:
    """Answers the requests of a client.

    `NAME:query` asks for the vector of a query, `NAME` or `NAME:document` for that of a document.

    Attributes:
        client: Who asks.
        model: Name of the veil's model.
        dimensions: Length of its vectors.
        upstream: Where clean vectors come from.
        documents: Protects documents.
        queries: Protects queries.
        tokens: Turns arrays of tokens into texts, where private words must be found in them.
        rewriting: Where clients take turns to have their private words replaced.
        rate: Counts what the client sends.
    """

    client: Client
    model: str
    dimensions: int
    upstream: Upstream
    documents: ReleaseQueue
    queries: ReleaseQueue
    tokens: TokenReader
    rewriting: ClientTurns
    rate: TextRate

    @cached_property
    def sides(self) -> dict[str, Side]:
        """What the client gets, by the names of models that it may ask for."""
        documents = Side(self.client.documents, self.documents)
        queries = Side(self.client.queries, self.queries)
        named = {self.model: documents, f"{self.model}:document": documents, f"{self.model}:query": queries}
        return {name: side for name, side in named.items() if side.treatment != "refuse"}

    def side(self, model: str) -> Side:
        """Return what the client gets by the name of a model, or refuse a name that it may not ask for."""
        if model not in self.sides:
            raise RefusedError(
                404,
                "there is no such model here for this key; GET /v1/models names those that are",
                param="model",
                code="model_not_found",
            )
        return self.sides[model]

    async def answer(self, request: EmbeddingRequest, side: Side) -> bytes:
        """Return the answer to a request.

        Args:
            request: The request.
            side: What the client gets for it.

        Raises:
            RefusedError: If another length is asked for, the client sends too much, or the release is refused.
        """
        if request.dimensions not in {None, self.dimensions}:
            why = "a veil is for whole vectors, and noise is added to those"
            raise invalid("dimensions", f"dimensions must be {self.dimensions}: {why}")
        self.rate.spend(sum(math.ceil(count_characters(one) / TEXT_CHARACTERS) for one in request.inputs))
        if side.queue is self.documents and side.treatment == "protect" and side.queue.release.words is not None:
            parts = await self.rewriting.run(self._rewrite, request.inputs, client=self.client.name)
            texts = [text for part in parts for text in part.texts]
            clean = await self.upstream.embed(texts, client=self.client.name)
            words = [count for part in parts for count in part.words]
            clean = replace(clean, contents=digest_inputs(request.inputs), words=words)
        else:
            clean = await self.upstream.embed(request.inputs, client=self.client.name)
        rows: NDArray[Any] = clean.vectors if side.treatment == "clean" else await side.queue.protect(clean)
        write = partial(write_answer, rows, model=request.model, encoding=request.encoding_format, tokens=clean.tokens)
        return await asyncio.to_thread(write) if rows.size > MOST_AT_ONCE else write()

    def _rewrite(self, inputs: list[str] | list[list[int]]) -> RewrittenTexts:
        """Return documents as the model may read them."""
        texts = [one if isinstance(one, str) else self.tokens.decode(one) for one in inputs]
        try:
            return self.documents.release.rewrite(texts)
        except ConceptTimeoutError:
            # The message holds a pattern.
            raise RefusedError(400, "private words could not be looked for in time", param="input") from None
        except VecveilError:
            # The message may tell of the concept.
            message = "the veil can't replace the private words of the input; its owner can tell why"
            raise RefusedError(400, message, param="input", code="words_not_replaced") from None
