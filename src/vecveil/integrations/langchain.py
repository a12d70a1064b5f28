"""LangChain: protected embeddings for vector stores, and reranking of what they find."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from vecveil.core.arrays import Matrix, to_lists
from vecveil.core.errors import needs_extra
from vecveil.integrations.awaiting import protect_queries, protect_texts
from vecveil.integrations.reranking import CANDIDATES, TOP, drop_seal, read_candidates, rerank_awaited
from vecveil.veil import Guard
from vecveil.veil.seal import SEAL, Hit

with needs_extra("langchain-core", "langchain"):
    from langchain_core.callbacks import Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore
    from pydantic import PrivateAttr


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


class VeiledReranker(BaseDocumentCompressor):
    """Puts what a protected store has found into its exact order, by seals in the metadata or by the texts.

    Args:
        guard: The veil, and the key of its seals.
        inner: LangChain's embeddings for the veil's model; the veil loads its model itself where None.
        top_n: How many documents come back.
        seal_field: The entry of a document's metadata that holds its seal; its id is the document's own.
    """

    top_n: int
    """How many documents come back."""

    seal_field: str
    """The entry of a document's metadata that holds its seal."""

    _guard: Guard = PrivateAttr()
    _inner: Embeddings | None = PrivateAttr()

    def __init__(
        self, guard: Guard, inner: Embeddings | None = None, *, top_n: int = TOP, seal_field: str = SEAL
    ) -> None:
        super().__init__(**{"top_n": top_n, "seal_field": seal_field})
        self._guard, self._inner = guard, inner
        if inner is not None:
            guard.require_same_model(inner.embed_documents)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the nearest documents, each with its cosine as `relevance_score` and without its seal."""
        del callbacks
        candidates = self._read(documents)
        if self._inner is None:
            hits = self._guard.rerank(query, _ids(documents), candidates, top=self.top_n)
        else:
            asked, embed = np.asarray(self._inner.embed_query(query)), self._inner.embed_documents
            hits = self._guard.rerank(asked, _ids(documents), candidates, embed=embed, top=self.top_n)
        return self._order(documents, hits)

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return what `compress_documents` does; an embedding that is wrapped is awaited."""
        del callbacks
        hits = await rerank_awaited(
            self._guard,
            query,
            _ids(documents),
            self._read(documents),
            embed_query=None if self._inner is None else self._embed_query,
            embed_texts=None if self._inner is None else self._inner.aembed_documents,
            top=self.top_n,
        )
        return self._order(documents, hits)

    async def _embed_query(self, queries: list[str]) -> list[list[float]]:
        return [await self._inner.aembed_query(query) for query in queries if self._inner is not None]

    def _read(self, documents: Sequence[Document]) -> list[bytes | str]:
        fields, texts = [one.metadata for one in documents], [one.page_content for one in documents]
        return read_candidates(fields, texts, seal_field=self.seal_field)

    def _order(self, documents: Sequence[Document], hits: Sequence[Hit]) -> list[Document]:
        kept = [drop_seal(documents[hit.row].metadata, seal_field=self.seal_field) for hit in hits]
        return [
            documents[hit.row].model_copy(update={"metadata": {**fields, "relevance_score": hit.similarity}})
            for hit, fields in zip(hits, kept, strict=True)
        ]


class VeiledRetriever(BaseRetriever):
    """Fetches candidates from a protected store, and returns the best of them in their exact order.

    Attributes:
        store: Holds protected vectors.
        reranker: Orders what it finds.
        candidates: How many documents are fetched.
        search_kwargs: What else the store's search is given, such as a filter.
    """

    store: VectorStore
    reranker: VeiledReranker
    candidates: int = CANDIDATES
    search_kwargs: dict[str, Any] = {}  # noqa: RUF012  # pydantic copies it

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        found = self.store.similarity_search(query, k=self.candidates, **self.search_kwargs)
        return [*self.reranker.compress_documents(found, query)]

    async def _aget_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        found = await self.store.asimilarity_search(query, k=self.candidates, **self.search_kwargs)
        return [*await self.reranker.acompress_documents(found, query)]


def _ids(documents: Sequence[Document]) -> list[Any]:
    return [one.id for one in documents]
