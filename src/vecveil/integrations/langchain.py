"""LangChain: embeddings that are protected before a vector store sees them."""

from __future__ import annotations

import numpy as np

from vecveil.core.errors import MissingExtraError
from vecveil.integrations.lists import as_lists
from vecveil.veil import Guard
from vecveil.veil.same_model import require_same_model

try:
    from langchain_core.embeddings import Embeddings
except ImportError:
    raise MissingExtraError("langchain-core", "langchain") from None


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
            require_same_model(guard, inner.embed_documents)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a protected vector for each text."""
        if not texts:
            return []
        if self.inner is None:
            return as_lists(self.guard.texts(texts))
        return as_lists(self.guard.embedded(texts, np.asarray(self.inner.embed_documents(texts))))

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query, protected unless queries were excepted."""
        if self.inner is None:
            rows = self.guard.texts([text]) if self.protect_queries else self.guard.model.embed([text])
        else:
            rows = np.asarray([self.inner.embed_query(text)])
            rows = self.guard.embedded([text], rows) if self.protect_queries else rows
        return as_lists(rows)[0]
