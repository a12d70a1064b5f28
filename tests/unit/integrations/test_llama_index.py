from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.ingestion import IngestionCache, IngestionPipeline
from llama_index.core.schema import Document, MetadataMode, NodeWithScore, QueryBundle, TextNode

from support.guards import TEXTS, secret_of
from vecveil.core.errors import EmbedderMismatchError, InvalidInputError, InvalidRowError
from vecveil.embedders import Embedder
from vecveil.integrations.llama_index import VeiledEmbedding, VeiledRerank, VeilNodes
from vecveil.ledger import open_ledger
from vecveil.veil import Guard
from vecveil.veil.release import Release


class Local(BaseEmbedding):
    """LlamaIndex's own way to call the veil's model."""

    _model: Embedder = PrivateAttr()

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._model = guard.model

    def _get_text_embedding(self, text: str) -> list[float]:
        found: list[float] = self._model.embed([text])[0].tolist()
        return found

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def test_texts_and_queries_are_protected_and_alike(guard: Guard) -> None:
    embedding = VeiledEmbedding(guard)
    rows = embedding.get_text_embedding_batch(TEXTS)
    assert rows[1] == embedding.get_query_embedding(TEXTS[1]) == embedding.get_text_embedding(TEXTS[1])
    assert np.abs(np.asarray(rows) - guard.model.embed(TEXTS)).max() > 1e-4
    assert asyncio.run(embedding.aget_query_embedding(TEXTS[1])) == rows[1]
    assert embedding.model_name == "small"


@pytest.mark.parametrize("wrapped", [False, True])
async def test_many_texts_are_one_asynchronous_call(
    guard: Guard, wrapped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedding = VeiledEmbedding(guard, Local(guard) if wrapped else None, embed_batch_size=64)
    released, protect = [], Release.protect_vectors

    def count(release: Release, vectors: np.ndarray, **settings: object) -> np.ndarray:
        released.append(len(vectors))
        return protect(release, vectors, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(Release, "protect_vectors", count)
    texts = [f"note {number}" for number in range(64)]
    rows = await embedding.aget_text_embedding_batch(texts)
    assert released == [64]
    assert np.allclose(rows, embedding.get_text_embedding_batch(texts), atol=1e-6)
    assert np.allclose(await embedding.aget_query_embedding("note 1"), rows[1], atol=1e-6)


def test_what_was_written_down_is_read_again(guard: Guard) -> None:
    embedding = VeiledEmbedding(guard, embed_batch_size=7)
    again = VeiledEmbedding.from_dict(embedding.to_dict())
    assert again.embed_batch_size == 7
    assert again.get_query_embedding(TEXTS[0]) == embedding.get_query_embedding(TEXTS[0])
    assert VeiledEmbedding.from_json(embedding.to_json()).guard_id == embedding.guard_id
    nodes = VeilNodes(guard)
    assert VeilNodes.from_dict(nodes.to_dict()).guard_id == nodes.guard_id
    assert secret_of(guard) not in str(embedding.to_dict()) + str(nodes.to_dict())


def test_a_guard_of_open_objects_is_named_again(guard: Guard) -> None:
    opened = replace(guard, veil=guard.opened_veil)
    for step in (VeiledEmbedding(opened), VeilNodes(opened)):
        with pytest.raises(InvalidInputError, match="name it with guard="):
            type(step).from_dict(step.to_dict())
        assert type(step).from_dict(step.to_dict(), guard=opened).guard_id == step.guard_id


def test_nothing_secret_is_in_what_is_logged(guard: Guard) -> None:
    embedding = VeiledEmbedding(guard)
    assert secret_of(guard) not in str(embedding.to_payload()) + embedding.to_json() + repr(embedding)


def test_embeddings_that_are_there_already_are_wrapped(guard: Guard) -> None:
    embedding = VeiledEmbedding(guard, Local(guard))
    expected = guard.protect_embedded(TEXTS[:1], guard.model.embed(TEXTS[:1])).astype(float).tolist()
    assert embedding.get_text_embedding_batch(TEXTS[:1]) == expected
    assert embedding.get_query_embedding(TEXTS[0]) == expected[0]
    with pytest.raises(EmbedderMismatchError, match="small"):
        VeiledEmbedding(guard, MockEmbedding(embed_dim=16))


def test_an_index_finds_what_was_put_in(guard: Guard) -> None:
    index = VectorStoreIndex.from_documents([Document(text=text) for text in TEXTS], embed_model=VeiledEmbedding(guard))
    (found,) = index.as_retriever(similarity_top_k=1).retrieve(TEXTS[2])
    assert found.text == TEXTS[2]


def test_nodes_are_protected_in_a_pipeline_under_their_own_ids(guard: Guard) -> None:
    clean = guard.model.embed(TEXTS)
    nodes = [
        TextNode(text=text, id_=f"node-{place}", embedding=row.tolist())
        for place, (text, row) in enumerate(zip(TEXTS, clean, strict=True))
    ]
    found = IngestionPipeline(transformations=[VeilNodes(guard)], disable_cache=True).run(nodes=nodes)
    expected = guard.protect_vectors(clean, ids=[node.node_id for node in nodes])
    assert np.allclose([node.embedding for node in found], expected)
    assert [node.node_id for node in found] == [node.node_id for node in nodes]
    assert np.allclose([node.embedding for node in nodes], clean)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().records == len(TEXTS)


def test_nodes_without_vectors_are_refused(guard: Guard) -> None:
    with pytest.raises(InvalidInputError, match="node-7 has no embedding"):
        VeilNodes(guard)([TextNode(text="a", id_="node-7")])
    assert VeilNodes(guard)([]) == []


def test_a_cache_of_llama_index_keeps_guards_apart(guard: Guard) -> None:
    noisy = Guard.from_settings({**guard.settings(), "epsilon": 5.0})
    cache = IngestionCache()

    def vectors(held: Guard) -> list[list[float] | None]:
        pipeline = IngestionPipeline(transformations=[VeiledEmbedding(held)], cache=cache)
        found = pipeline.run(nodes=[TextNode(text=text, id_=text) for text in TEXTS])
        return [node.embedding for node in found]

    quiet, loud, again = vectors(guard), vectors(noisy), vectors(guard)
    assert np.allclose(np.asarray(quiet), np.asarray(again))
    assert not np.allclose(np.asarray(quiet), np.asarray(loud))
    assert VeilNodes(guard).to_dict() != VeilNodes(noisy).to_dict()


def _found(guard: Guard, *, sealed: bool) -> list[NodeWithScore]:
    nodes = [TextNode(text=text, id_=str(row)) for row, text in enumerate(TEXTS)]
    for node, row in zip(nodes, guard.model.embed(TEXTS), strict=True):
        node.embedding = row.tolist()
    done = VeilNodes(guard, seal=sealed)(nodes)
    assert all("seal" not in node.metadata for node in nodes)
    return [NodeWithScore(node=node, score=0.0) for node in done]


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("sealed", [False, True])
async def test_nodes_come_back_in_their_exact_order(guard: Guard, wrapped: bool, sealed: bool) -> None:
    found = _found(guard, sealed=sealed)
    if sealed:
        # The texts are not looked at, and neither a model nor an embedding reads the seal.
        for one in found:
            assert "vvs1" not in one.node.get_content(MetadataMode.EMBED) + one.node.get_content(MetadataMode.LLM)
            one.node.set_content("something else")
    rerank = VeiledRerank(guard, Local(guard) if wrapped else None, top_n=2)
    exact = guard.model.embed(TEXTS) @ guard.model.embed(["rain today"])[0]
    query = QueryBundle("rain today")
    for ordered in (rerank.postprocess_nodes(found, query), await rerank.apostprocess_nodes(found, query)):
        assert [one.node.node_id for one in ordered] == [str(row) for row in np.argsort(-exact)[:2]]
        assert np.allclose([one.score for one in ordered], np.sort(exact)[::-1][:2], atol=1e-3)
        assert all("seal" not in one.node.metadata for one in ordered)
    assert all(("seal" in one.node.metadata) == sealed for one in found)


def test_reranking_needs_a_query_and_names_the_node_at_fault(guard: Guard) -> None:
    rerank, found = VeiledRerank(guard), _found(guard, sealed=True)
    with pytest.raises(InvalidInputError, match="by a query, and there is none"):
        rerank.postprocess_nodes(found)
    found[1].node.id_ = "other"
    with pytest.raises(InvalidRowError, match="row 1 has a seal that does not open"):
        rerank.postprocess_nodes(found, query_str="rain")
    assert rerank.postprocess_nodes([], query_str="rain") == []
    again = VeiledRerank.from_dict(rerank.to_dict())
    assert again.top_n == rerank.top_n
    assert secret_of(guard) not in str(rerank.to_dict())
    assert VeilNodes.from_dict(VeilNodes(guard, seal=True).to_dict()).seal


def test_an_index_fetches_many_and_returns_the_best(guard: Guard) -> None:
    index = VectorStoreIndex.from_documents([Document(text=text) for text in TEXTS], embed_model=VeiledEmbedding(guard))
    engine = index.as_retriever(similarity_top_k=3)
    ordered = VeiledRerank(guard, top_n=1).postprocess_nodes(engine.retrieve(TEXTS[2]), query_str=TEXTS[2])
    assert [one.node.get_content() for one in ordered] == [TEXTS[2]]
    assert ordered[0].score == pytest.approx(1, abs=1e-5)
