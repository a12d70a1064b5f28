"""LlamaIndex: a protected embedding model, and a transform for embedded nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from vecveil.core.arrays import to_lists
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.integrations.awaiting import protect_queries, protect_texts
from vecveil.veil import Guard

with needs_extra("llama-index-core", "llama-index"):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.schema import BaseNode, TransformComponent


GuardLike: TypeAlias = Guard | Mapping[str, Any]
"""A guard, or its settings as `to_dict` writes them down."""


class VeiledEmbedding(BaseEmbedding):
    """Protected embeddings of texts and queries.

    Args:
        guard: The veil, its budget, its key and its ledger; made from names and paths, so that it can be written down.
        inner: LlamaIndex's embedding for the veil's model; the veil loads its model itself where None.
        **settings: Of every embedding of LlamaIndex, such as `embed_batch_size`.
    """

    guard_id: str
    """Tells guards apart: LlamaIndex looks for cached vectors by the fields of a step."""

    _guard: Guard = PrivateAttr()
    _inner: BaseEmbedding | None = PrivateAttr()

    def __init__(self, guard: GuardLike, inner: BaseEmbedding | None = None, **settings: Any) -> None:
        guard = _open_guard(guard)
        known = {"model_name": guard.opened_veil.fingerprint.model, "guard_id": guard.id}
        super().__init__(**{**known, **settings})
        self._guard, self._inner = guard, inner
        if inner is not None:
            guard.require_same_model(inner._get_text_embeddings)

    @classmethod
    def class_name(cls) -> str:
        """Return its name in LlamaIndex."""
        return "VeiledEmbedding"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the embedding as plain data, without any key; `from_dict` makes one of it that loads its own model."""
        return {**super().to_dict(**kwargs), "guard": _write_guard(self._guard)}

    def _get_query_embedding(self, query: str) -> list[float]:
        return to_lists(self._guard.protect_queries([query], embed=None if self._inner is None else self._embed))[0]

    def _embed(self, queries: list[str]) -> Any:
        # The public method would show the clean vector to listeners of LlamaIndex's events.
        return [self._inner._get_query_embedding(query) for query in queries if self._inner is not None]

    async def _embed_async(self, queries: list[str]) -> Any:
        return [await self._inner._aget_query_embedding(query) for query in queries if self._inner is not None]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        inner = None if self._inner is None else self._embed_async
        return to_lists(await protect_queries(self._guard, [query], inner))[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        inner = None if self._inner is None else self._inner._aget_text_embeddings
        return to_lists(await protect_texts(self._guard, texts, inner))

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        inner = None if self._inner is None else self._inner._get_text_embeddings
        return to_lists(self._guard.protect_texts(texts, embed=inner))


class VeilNodes(TransformComponent):
    """Protects nodes that another step of a pipeline has embedded; their ids are what the ledger knows them by.

    Args:
        guard: The veil, its budget, its key and its ledger.
    """

    guard_id: str
    """Tells guards apart, as above."""

    _guard: Guard = PrivateAttr()

    def __init__(self, guard: GuardLike, guard_id: str = "") -> None:
        del guard_id  # `to_dict` writes it down too.
        guard = _open_guard(guard)
        super().__init__(**{"guard_id": guard.id})
        self._guard = guard

    @classmethod
    def class_name(cls) -> str:
        """Return its name in LlamaIndex."""
        return "VeilNodes"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the step as plain data, without any key."""
        return {**super().to_dict(**kwargs), "guard": _write_guard(self._guard)}

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Return the nodes with protected vectors in the place of their own; those handed in stay as they were."""
        bare = next((node for node in nodes if node.embedding is None), None)
        if bare is not None:
            raise InvalidInputError(f"node {bare.node_id} has no embedding: put VeilNodes after the step that makes it")
        if not nodes:
            return []
        clean = np.asarray([node.embedding for node in nodes])
        protected = to_lists(self._guard.protect_vectors(clean, ids=[node.node_id for node in nodes]))
        return [node.model_copy(update={"embedding": row}) for node, row in zip(nodes, protected, strict=True)]


def _write_guard(guard: Guard) -> dict[str, Any] | None:
    # LlamaIndex asks every step for this, for its cache and its events: one of open objects must be able to answer.
    try:
        return guard.settings()
    except InvalidInputError:
        return None


def _open_guard(guard: GuardLike | None) -> Guard:
    if guard is None:
        raise InvalidInputError(
            "its guard was made from open objects, which can't be written down: name it with guard="
        )
    return guard if isinstance(guard, Guard) else Guard.from_settings(guard)
