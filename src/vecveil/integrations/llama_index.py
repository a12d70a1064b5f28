"""LlamaIndex: protected embeddings, a transform for embedded nodes, and reranking."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from vecveil.core.arrays import to_lists
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.integrations.framework_model import FrameworkModel
from vecveil.integrations.reranking import TOP, drop_seal, read_candidates
from vecveil.veil import Guard
from vecveil.veil.seal import SEAL, Hit, write_as_text

with needs_extra("llama-index-core", "llama-index"):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TransformComponent


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

    _model: FrameworkModel = PrivateAttr()

    def __init__(self, guard: GuardLike, inner: BaseEmbedding | None = None, **settings: Any) -> None:
        guard = _open_guard(guard)
        known = {"model_name": guard.opened_veil.fingerprint.model, "guard_id": guard.id}
        super().__init__(**{**known, **settings})
        self._model = _wrap_model(guard, inner)

    @classmethod
    def class_name(cls) -> str:
        """Return its name in LlamaIndex."""
        return "VeiledEmbedding"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the embedding as plain data, without any key; `from_dict` makes one of it that loads its own model."""
        return {**super().to_dict(**kwargs), "guard": _write_guard(self._model.guard)}

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._model.protect_query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await self._model.protect_query_awaited(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._model.protect_texts([text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._model.protect_texts_awaited([text]))[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._model.protect_texts(texts)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await self._model.protect_texts_awaited(texts)


class VeilNodes(TransformComponent):
    """Protects nodes that another step of a pipeline has embedded; their ids are what the ledger knows them by.

    Args:
        guard: The veil, its budget, its key and its ledger.
        seal: Whether nodes get a seal too, in their metadata, where neither a model nor an embedding reads it.
    """

    guard_id: str
    """Tells guards apart, as above."""

    seal: bool = False
    """Whether nodes get a seal."""

    _guard: Guard = PrivateAttr()

    def __init__(self, guard: GuardLike, guard_id: str = "", *, seal: bool = False) -> None:
        del guard_id  # `to_dict` writes it down too.
        guard = _open_guard(guard)
        super().__init__(**{"guard_id": guard.id, "seal": seal})
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
        clean, ids = np.asarray([node.embedding for node in nodes]), [node.node_id for node in nodes]
        protected = to_lists(self._guard.protect_vectors(clean, ids=ids))
        done = [node.model_copy(update={"embedding": row}) for node, row in zip(nodes, protected, strict=True)]
        if not self.seal:
            return done
        seals = map(write_as_text, self._guard.sealer.seal(clean, ids))
        return [node.model_copy(update=_hold_seal(node, seal)) for node, seal in zip(done, seals, strict=True)]


class VeiledRerank(BaseNodePostprocessor):
    """Puts the nodes that a protected index has found into their exact order, by seals in the metadata or by the texts.

    Args:
        guard: The veil, and the key of its seals.
        inner: LlamaIndex's embedding for the veil's model; the veil loads its model itself where None.
        top_n: How many nodes come back.
        **settings: Of every postprocessor of LlamaIndex.
    """

    top_n: int
    """How many nodes come back."""

    _model: FrameworkModel = PrivateAttr()

    def __init__(
        self, guard: GuardLike, inner: BaseEmbedding | None = None, *, top_n: int = TOP, **settings: Any
    ) -> None:
        super().__init__(**{"top_n": top_n, **settings})
        self._model = _wrap_model(_open_guard(guard), inner)

    @classmethod
    def class_name(cls) -> str:
        """Return its name in LlamaIndex."""
        return "VeiledRerank"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """Return the step as plain data, without any key."""
        return {**super().to_dict(**kwargs), "guard": _write_guard(self._model.guard)}

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return _order(nodes, self._model.rerank(*self._read(nodes, query_bundle), top=self.top_n))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return _order(nodes, await self._model.rerank_awaited(*self._read(nodes, query_bundle), top=self.top_n))

    def _read(
        self, nodes: Sequence[NodeWithScore], query_bundle: QueryBundle | None
    ) -> tuple[str, list[str], list[bytes | str]]:
        if query_bundle is None:
            raise InvalidInputError("nodes are reranked by a query, and there is none")
        # Texts as an index embeds them, with the metadata that belongs to them.
        texts = [one.node.get_content(metadata_mode=MetadataMode.EMBED) for one in nodes]
        candidates = read_candidates([one.node.metadata for one in nodes], texts)
        return query_bundle.query_str, [one.node.node_id for one in nodes], candidates


def _order(nodes: Sequence[NodeWithScore], hits: Sequence[Hit]) -> list[NodeWithScore]:
    found = [(nodes[hit.row].node, hit.similarity) for hit in hits]
    return [
        NodeWithScore(node=node.model_copy(update={"metadata": drop_seal(node.metadata)}), score=score)
        for node, score in found
    ]


def _hold_seal(node: BaseNode, seal: str) -> dict[str, Any]:
    return {
        "metadata": {**node.metadata, SEAL: seal},
        "excluded_embed_metadata_keys": [*node.excluded_embed_metadata_keys, SEAL],
        "excluded_llm_metadata_keys": [*node.excluded_llm_metadata_keys, SEAL],
    }


def _wrap_model(guard: Guard, inner: BaseEmbedding | None) -> FrameworkModel:
    if inner is None:
        return FrameworkModel(guard)
    # The public methods would show clean vectors to listeners of LlamaIndex's events.
    awaited = inner._aget_query_embedding, inner._aget_text_embeddings
    return FrameworkModel(guard, inner._get_query_embedding, inner._get_text_embeddings, *awaited)


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
