from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from support.guards import TEXTS, secret_of
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.integrations.haystack import VeiledDocumentEmbedder, VeiledRanker, VeiledTextEmbedder
from vecveil.veil import Guard


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_a_pipeline_finds_what_was_put_in(guard: Guard) -> None:
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(VeiledDocumentEmbedder(guard).run([Document(content=text) for text in TEXTS])["documents"])
    pipeline = Pipeline()
    pipeline.add_component("embedder", VeiledTextEmbedder(guard))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    (found,) = pipeline.run({"embedder": {"text": TEXTS[2]}})["retriever"]["documents"]
    assert found.content == TEXTS[2]


@pytest.mark.filterwarnings("ignore:the ledger knows")
async def test_an_asynchronous_pipeline_gets_the_same(guard: Guard) -> None:
    documents = [Document(content=text) for text in TEXTS]
    pipeline = Pipeline()
    pipeline.add_component("text", VeiledTextEmbedder(guard))
    pipeline.add_component("documents", VeiledDocumentEmbedder(guard))
    found = await pipeline.run_async({"text": {"text": TEXTS[1]}, "documents": {"documents": documents}})
    assert found["text"] == VeiledTextEmbedder(guard).run(TEXTS[1])
    assert found["documents"] == VeiledDocumentEmbedder(guard).run(documents)
    assert pipeline.get_component("text").__haystack_supports_async__


def test_documents_are_protected_under_their_own_ids_and_stay_as_they_were(guard: Guard) -> None:
    documents = [Document(content=text) for text in TEXTS]
    found = VeiledDocumentEmbedder(guard).run(documents)
    expected = guard.protect_texts(TEXTS, ids=[one.id for one in documents])
    assert np.allclose([one.embedding for one in found["documents"]], expected)
    assert all(one.embedding is None for one in documents)
    assert found["meta"] == {"model": "small", "veil": guard.opened_veil.digest()}
    assert VeiledDocumentEmbedder(guard).run([])["documents"] == []


def test_fields_of_the_meta_data_can_be_embedded_too(guard: Guard) -> None:
    embedder = VeiledDocumentEmbedder(guard, meta_fields_to_embed=["title", "missing"], embedding_separator=" | ")
    document = Document(content="rain", meta={"title": "weather"})
    (found,) = embedder.run([document])["documents"]
    assert np.allclose(found.embedding, guard.protect_texts(["weather | rain"], ids=[document.id])[0])


def test_a_pipeline_is_written_down_without_the_key_and_read_again(guard: Guard) -> None:
    pipeline = Pipeline()
    pipeline.add_component("text", VeiledTextEmbedder(guard))
    pipeline.add_component("documents", VeiledDocumentEmbedder(guard, meta_fields_to_embed=["title"]))
    written = pipeline.dumps()
    assert secret_of(guard) not in written
    again = Pipeline.loads(written, allowed_modules=["vecveil.integrations.haystack"])
    found = again.get_component("text").run("rain")["embedding"]
    assert np.allclose(found, guard.protect_texts(["rain"])[0])
    assert again.get_component("documents").meta_fields_to_embed == ["title"]


def test_the_wrong_kind_of_input_is_refused(guard: Guard) -> None:
    with pytest.raises(InvalidInputError, match="VeiledDocumentEmbedder takes documents"):
        VeiledTextEmbedder(guard).run(["a", "b"])
    with pytest.raises(InvalidInputError, match="takes a list of documents"):
        VeiledDocumentEmbedder(guard).run("a text")


@pytest.mark.filterwarnings("ignore:the ledger knows")
@pytest.mark.parametrize("sealed", [False, True])
async def test_a_pipeline_fetches_many_and_returns_the_best_in_their_exact_order(guard: Guard, sealed: bool) -> None:
    documents = [Document(content=text, id=str(row)) for row, text in enumerate(TEXTS)]
    written = VeiledDocumentEmbedder(guard, seal=sealed).run(documents)["documents"]
    plain = VeiledDocumentEmbedder(guard).run(documents)["documents"]
    assert [one.embedding for one in written] == [one.embedding for one in plain]
    assert [("seal" in one.meta, one.id) for one in written] == [(sealed, one.id) for one in documents]
    if sealed:
        # The texts are not looked at.
        written = [replace(one, content="something else") for one in written]
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(written)
    pipeline = Pipeline()
    pipeline.add_component("embedder", VeiledTextEmbedder(guard))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=3))
    pipeline.add_component("ranker", VeiledRanker(guard, top_k=2))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    pipeline.connect("retriever.documents", "ranker.documents")
    exact = guard.model.embed(TEXTS) @ guard.model.embed(["rain today"])[0]
    asked = {"embedder": {"text": "rain today"}, "ranker": {"query": "rain today"}}
    for found in (pipeline.run(asked), await pipeline.run_async(asked)):
        ordered = found["ranker"]["documents"]
        assert [one.id for one in ordered] == [str(row) for row in np.argsort(-exact)[:2]]
        assert np.allclose([one.score for one in ordered], np.sort(exact)[::-1][:2], atol=1e-3)
        assert all("seal" not in one.meta for one in ordered)
    assert len(VeiledRanker(guard).run("rain today", written, top_k=1)["documents"]) == 1
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["vecveil.integrations.haystack", "haystack"])
    assert again.get_component("ranker").top_k == 2
    assert secret_of(guard) not in pipeline.dumps()


def test_texts_are_ranked_as_they_were_embedded(guard: Guard) -> None:
    documents = [Document(content="rain", meta={"title": "weather"}), Document(content="weather rain")]
    ranker = VeiledRanker(guard, meta_fields_to_embed=["title"], embedding_separator=" ")
    assert [one.score for one in ranker.run("weather rain", documents)["documents"]] == pytest.approx([1, 1], abs=1e-5)


def test_a_document_that_can_t_be_ranked_is_named_by_its_row(guard: Guard) -> None:
    with pytest.raises(InvalidRowError, match="row 1 has neither a seal nor a text"):
        VeiledRanker(guard).run("rain", [Document(content="rain"), Document(content=None)])
    (sealed,) = VeiledDocumentEmbedder(guard, seal=True).run([Document(content="rain")])["documents"]
    with pytest.raises(InvalidRowError, match="row 0 has a seal that does not open"):
        VeiledRanker(guard).run("rain", [replace(sealed, id="other")])
