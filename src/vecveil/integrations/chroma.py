"""Chroma: an embedding function that gives protected vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.veil import Guard

with needs_extra("chromadb", "chroma"):
    from chromadb.api.types import Documents, EmbeddingFunction, Embeddings
    from chromadb.utils.embedding_functions import register_embedding_function


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
