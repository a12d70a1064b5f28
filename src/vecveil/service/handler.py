"""Answers to the requests of one client."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vecveil.core.errors import ConceptTimeoutError, InvalidRowError, VecveilError
from vecveil.service.clients import Client, Treatment
from vecveil.service.limits import TextRate
from vecveil.service.messages import (
    EmbeddingRequest,
    RefusedError,
    RerankDocument,
    RerankRequest,
    invalid,
    write_answer,
    write_ranking,
)
from vecveil.service.release_queue import ReleaseQueue
from vecveil.service.turns import ClientTurns, count_characters
from vecveil.service.upstream import CleanVectors, TokenReader, Upstream, digest_inputs
from vecveil.veil.seal import Sealer, rank, write_as_text
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
        sealer: Seals documents for their owner, and opens seals to rerank them; None where there is no key.
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
    sealer: Sealer | None = None

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
            raise _refuse_model()
        return self.sides[model]

    async def answer(self, request: EmbeddingRequest, side: Side) -> bytes:
        """Return the answer to a request.

        Args:
            request: The request.
            side: What the client gets for it.

        Raises:
            RefusedError: If another length is asked for, or seals that can't be made, if the client sends too much, or
                the release is refused.
        """
        if request.dimensions not in {None, self.dimensions}:
            why = "a veil is for whole vectors, and noise is added to those"
            raise invalid("dimensions", f"dimensions must be {self.dimensions}: {why}")
        if request.seal_ids is not None:
            self._require_seals(request, side)
        self.rate.spend(_count_texts(request.inputs))
        if side.queue is self.documents and side.treatment == "protect" and side.queue.release.words is not None:
            parts = await self.rewriting.run(self._rewrite, request.inputs, client=self.client.name)
            texts = [text for part in parts for text in part.texts]
            clean = await self.upstream.embed(texts, client=self.client.name)
            words = [count for part in parts for count in part.words]
            clean = replace(clean, contents=digest_inputs(request.inputs), words=words)
        else:
            clean = await self.upstream.embed(request.inputs, client=self.client.name)
        seals = None if request.seal_ids is None else await self._seal(request, request.seal_ids, clean)
        rows: NDArray[Any] = clean.vectors if side.treatment == "clean" else await side.queue.protect(clean)
        facts: dict[str, Any] = {"model": request.model, "encoding": request.encoding_format, "tokens": clean.tokens}
        write = partial(write_answer, rows, **facts, seals=seals)
        return await asyncio.to_thread(write) if rows.size > MOST_AT_ONCE else write()

    async def rerank(self, request: RerankRequest) -> bytes:
        """Return documents in the order of their clean vectors; nothing is protected, and nothing recorded.

        Raises:
            RefusedError: If the client may not see that order, sends too much, or a seal does not open.
        """
        if self.client.rerank == "refuse":
            message = "this key may not rerank, as the scores tell of clean vectors; its owner can allow it"
            raise RefusedError(403, message, code="rerank_refused")
        if request.model not in {self.model, f"{self.model}:document", f"{self.model}:query"}:
            raise _refuse_model()
        documents = request.opened_documents
        texts = {row: one.text for row, one in enumerate(documents) if one.seal is None and one.text is not None}
        asked = [request.query, *texts.values()]
        self.rate.spend(_count_texts(asked) + len(documents) - len(texts))
        vectors = np.empty((len(documents), self.dimensions))
        rows = [row for row in range(len(documents)) if row not in texts]
        if rows:
            vectors[rows] = await asyncio.to_thread(self._open, documents, rows)
        clean = await self.upstream.embed(asked, client=self.client.name)
        if texts:
            vectors[[*texts]] = clean.vectors[1:]
        hits = await asyncio.to_thread(rank, clean.vectors[0], range(len(documents)), vectors, top=request.top_n)
        return write_ranking(request, hits, tokens=clean.tokens)

    def _require_seals(self, request: EmbeddingRequest, side: Side) -> None:
        """Refuse a request for seals that can't be made."""
        if side.queue is not self.documents:
            raise invalid("seal_ids", "queries have no seals: ask for them with documents")
        if len(request.seal_ids or ()) != len(request.inputs):
            raise invalid("seal_ids", "seal_ids must hold one id for each input")
        if self.sealer is None:
            raise _refuse_seals("seal_ids")

    async def _seal(self, request: EmbeddingRequest, ids: Sequence[str | int], clean: CleanVectors) -> list[str]:
        """Return the seals of documents as they came; those whose words were replaced are embedded once more."""
        vectors, changed = np.array(clean.vectors), np.flatnonzero(clean.words or ()).tolist()
        if changed:
            texts: list[Any] = [request.inputs[row] for row in changed]
            vectors[changed] = (await self.upstream.embed(texts, client=self.client.name)).vectors
        if self.sealer is None:
            raise _refuse_seals("seal_ids")
        return [write_as_text(one) for one in await asyncio.to_thread(self.sealer.seal, vectors, ids)]

    def _open(self, documents: Sequence[RerankDocument], rows: Sequence[int]) -> NDArray[Any]:
        """Return the clean vectors of sealed documents."""
        if self.sealer is None:
            raise _refuse_seals("documents")
        try:
            seals, ids = [documents[row].seal or "" for row in rows], [documents[row].id or 0 for row in rows]
            return self.sealer.open(seals, ids, rows=rows)
        except InvalidRowError as error:
            raise invalid("documents", f"document {error.row} {error.problem}") from None

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


def _count_texts(inputs: Sequence[str | list[int]]) -> int:
    return sum(math.ceil(count_characters(one) / TEXT_CHARACTERS) for one in inputs)


def _refuse_model() -> RefusedError:
    message = "there is no such model here for this key; GET /v1/models names those that are"
    return RefusedError(404, message, param="model", code="model_not_found")


def _refuse_seals(param: str) -> RefusedError:
    message = "this gateway has no key of seals, as its noise is fresh; its owner can name one (--seal-key)"
    return RefusedError(400, message, param=param, code="seals_unavailable")
