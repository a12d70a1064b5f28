"""LangChain: embeddings that are protected before a vector store sees them."""

from __future__ import annotations

import asyncio

import numpy as np

from vecveil.core.arrays import Matrix, to_lists
from vecveil.core.errors import needs_extra
from vecveil.integrations.awaiting import protect_queries, protect_texts
from vecveil.veil import Guard

with needs_extra("langchain-core", "langchain"):
    from langchain_core.embeddings import Embeddings


class VeiledEmbeddings(Embeddings):
    """Protected embeddings of documents and queries.

    Args:
        guard: The veil, its budget, its key and its ledger.
        inner: LangChain's embeddings for the veil's model; the veil loads its model itself where None.
        protect_queries: Whether queries are protected too. A store sees them, so clean ones are for stores that you
            trust with what is asked, if not with what is kept.
    """

    def __init__(self, guard: Guard, inner: Embeddings | None = None, *, protect_queries: bool = True) -> None:
        self.guard = guard
        self.inner = inner
        self.protect_queries = protect_queries
        if inner is not None:
            guard.require_same_model(inner.embed_documents)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a protected vector for each text."""
        if not texts:
            return []
        inner = None if self.inner is None else self.inner.embed_documents
        return to_lists(self.guard.protect_texts(texts, embed=inner))

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query, protected unless `protect_queries` is off."""
        if self.protect_queries:
            return to_lists(self.guard.protect_queries([text], embed=None if self.inner is None else self._embed))[0]
        return to_lists(self.guard.model.embed([text]) if self.inner is None else self._embed([text]))[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a protected vector for each text; an embedding that is wrapped is awaited."""
        if not texts:
            return []
        inner = None if self.inner is None else self.inner.aembed_documents
        return to_lists(await protect_texts(self.guard, texts, inner))

    async def aembed_query(self, text: str) -> list[float]:
        """Return the vector of a query, protected unless `protect_queries` is off."""
        if self.inner is None:
            return await asyncio.to_thread(self.embed_query, text)
        if self.protect_queries:
            return to_lists(await protect_queries(self.guard, [text], self._embed_async))[0]
        return await self.inner.aembed_query(text)

    async def _embed_async(self, queries: list[str]) -> list[list[float]]:
        return [await self.inner.aembed_query(query) for query in queries if self.inner is not None]

    def _embed(self, queries: list[str]) -> Matrix:
        return np.asarray([self.inner.embed_query(query) for query in queries if self.inner is not None])
