"""Chroma: an embedding function that gives protected vectors, and exact queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.integrations.framework_model import FrameworkModel
from vecveil.integrations.reranking import CANDIDATES, TOP, drop_seal, read_candidates
from vecveil.veil import Guard
from vecveil.veil.seal import Hit

with needs_extra("chromadb", "chroma"):
    from chromadb.api.types import Documents, EmbeddingFunction, Embeddings
    from chromadb.utils.embedding_functions import register_embedding_function

if TYPE_CHECKING:
    from chromadb.api.models.AsyncCollection import AsyncCollection
    from chromadb.api.models.Collection import Collection


@register_embedding_function
class VeiledEmbeddingFunction(EmbeddingFunction[Documents]):
    """Protects documents and queries. Chroma keeps texts too unless it is given vectors alone: see the how-to.

    Args:
        guard: The veil, its budget, its key and its ledger; made from names and paths, as Chroma writes its
            configuration down beside the collection.
    """

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    def __call__(self, input: Documents) -> Embeddings:  # noqa: A002
        """Return a protected vector for each text."""
        return list(self.guard.protect_texts(list(input)).astype(np.float32))

    def embed_query(self, input: Documents) -> Embeddings:  # noqa: A002
        """Return a protected vector for each query; its words stay as they are."""
        return list(self.guard.protect_queries(list(input)).astype(np.float32))

    @staticmethod
    def name() -> str:
        """Return the name under which Chroma finds it again."""
        return "vecveil"

    def get_config(self) -> dict[str, Any]:
        """Return names, paths and numbers; never a key."""
        return self.guard.settings()

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> VeiledEmbeddingFunction:
        """Return the function that `config` describes."""
        return VeiledEmbeddingFunction(Guard.from_settings(config))

    @staticmethod
    def validate_config(config: dict[str, Any]) -> None:
        """Raise unless a guard can be made of `config`."""
        Guard.from_settings(config)

    def validate_config_update(self, old_config: dict[str, Any], new_config: dict[str, Any]) -> None:
        """Raise where the vectors of a collection would no longer be comparable."""
        before, after = (Guard.from_settings(config).opened_veil.digest() for config in (old_config, new_config))
        if before != after:
            raise InvalidInputError("a collection keeps its veil: vectors of two veils can't be compared")

    def default_space(self) -> Any:
        """Return the space in which protected vectors are compared: their lengths are noise."""
        return "cosine"


def query_exactly(
    collection: Collection, guard: Guard, query: str, *, n_results: int = TOP, candidates: int = CANDIDATES, **more: Any
) -> list[dict[str, Any]]:
    """Return what a protected collection has nearest to a query, in its exact order.

    Each result has `id`, `similarity`, `metadata` without its seal, and `document`.

    Args:
        collection: Holds protected vectors, and the seal of each record in its metadata, or its document.
        guard: The veil, its budget, its key and its ledger.
        query: What to look for; the collection is asked for its protected vector.
        n_results: How many results come back.
        candidates: How many the collection is asked for.
        **more: What else the collection's query is given, such as `where`.
    """
    protected: Any = [FrameworkModel(guard).protect_query(query)]
    found: Any = collection.query(query_embeddings=protected, **_ask(n_results, candidates), **more)
    return _order(found, guard.rerank(query, found["ids"][0], _read(found), top=n_results))


async def query_exactly_async(
    collection: AsyncCollection,
    guard: Guard,
    query: str,
    *,
    n_results: int = TOP,
    candidates: int = CANDIDATES,
    **more: Any,
) -> list[dict[str, Any]]:
    """Return what `query_exactly` does, from a collection of an asynchronous client."""
    model = FrameworkModel(guard)
    protected: Any = [await model.protect_query_awaited(query)]
    found: Any = await collection.query(query_embeddings=protected, **_ask(n_results, candidates), **more)
    return _order(found, await model.rerank_awaited(query, found["ids"][0], _read(found), top=n_results))


def _ask(n_results: int, candidates: int) -> dict[str, Any]:
    return {"n_results": at_least(candidates, n_results, "candidates"), "include": ["metadatas", "documents"]}


def _read(found: Any) -> list[bytes | str]:
    return read_candidates(found["metadatas"][0], found["documents"][0])


def _order(found: Any, hits: list[Hit]) -> list[dict[str, Any]]:
    return [
        {
            "id": hit.id,
            "similarity": hit.similarity,
            "metadata": drop_seal(found["metadatas"][0][hit.row] or {}),
            "document": found["documents"][0][hit.row],
        }
        for hit in hits
    ]
