"""LangChain: protected embeddings for vector stores, and reranking of what they find."""

import asyncio
from collections.abc import Sequence
from typing import Any

from vecveil.core.arrays import to_lists
from vecveil.core.errors import needs_extra
from vecveil.integrations.framework_model import FrameworkModel
from vecveil.integrations.reranking import CANDIDATES, TOP, drop_seal, read_candidates
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
        self._model = _wrap_model(guard, inner)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a protected vector for each text."""
        return self._model.protect_texts(texts) if texts else []

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query, protected unless `protect_queries` is off."""
        if self.protect_queries:
            return self._model.protect_query(text)
        return to_lists(self.guard.model.embed([text]))[0] if self.inner is None else self.inner.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a protected vector for each text; an embedding that is wrapped is awaited."""
        return await self._model.protect_texts_awaited(texts) if texts else []

    async def aembed_query(self, text: str) -> list[float]:
        """Return the vector of a query, protected unless `protect_queries` is off."""
        if self.protect_queries:
            return await self._model.protect_query_awaited(text)
        return await (
            asyncio.to_thread(self.embed_query, text) if self.inner is None else self.inner.aembed_query(text)
        )


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

    _model: FrameworkModel = PrivateAttr()

    def __init__(
        self, guard: Guard, inner: Embeddings | None = None, *, top_n: int = TOP, seal_field: str = SEAL
    ) -> None:
        super().__init__(**{"top_n": top_n, "seal_field": seal_field})
        self._model = _wrap_model(guard, inner)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the nearest documents, each with its cosine as `relevance_score` and without its seal."""
        del callbacks
        hits = self._model.rerank(query, [one.id for one in documents], self._read(documents), top=self.top_n)
        return self._order(documents, hits)

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return what `compress_documents` does; an embedding that is wrapped is awaited."""
        del callbacks
        ids = [one.id for one in documents]
        return self._order(
            documents, await self._model.rerank_awaited(query, ids, self._read(documents), top=self.top_n)
        )

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


def _wrap_model(guard: Guard, inner: Embeddings | None) -> FrameworkModel:
    if inner is None:
        return FrameworkModel(guard)
    return FrameworkModel(guard, inner.embed_query, inner.embed_documents, inner.aembed_query, inner.aembed_documents)
