from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from support.guards import TEXTS, without_words
from vecveil.concepts import terms
from vecveil.core.errors import EmbedderMismatchError, InvalidRowError
from vecveil.integrations.langchain import VeiledEmbeddings, VeiledReranker, VeiledRetriever
from vecveil.ledger import open_ledger
from vecveil.veil import Guard
from vecveil.veil.seal import write_as_text


class Local(Embeddings):
    """LangChain's own way to call the veil's model, asynchronously too."""

    def __init__(self, guard: Guard) -> None:
        self._model = guard.model
        self.awaited: list[list[str]] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = self._model.embed(texts).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.awaited.append(texts)
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        return (await self.aembed_documents([text]))[0]


class Contract:
    @pytest.fixture(autouse=True)
    def _guarded(self, guard: Guard) -> None:
        self.guard = guard

    @property
    def embeddings_class(self) -> type[VeiledEmbeddings]:
        return VeiledEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"guard": self.guard}


class TestUnitContract(Contract, EmbeddingsUnitTests):
    """LangChain's own tests of embeddings."""


class TestIntegrationContract(Contract, EmbeddingsIntegrationTests):
    """LangChain's own tests of what embeddings return."""


def test_documents_and_queries_are_protected_and_alike(guard: Guard) -> None:
    embeddings = VeiledEmbeddings(guard)
    documents = embeddings.embed_documents(TEXTS)
    assert documents[1] == embeddings.embed_query(TEXTS[1])
    assert np.abs(np.asarray(documents) - guard.model.embed(TEXTS)).max() > 1e-4
    assert embeddings.embed_documents([]) == []


def test_embeddings_that_are_there_already_are_wrapped(guard: Guard) -> None:
    embeddings = VeiledEmbeddings(guard, Local(guard))
    clean = guard.model.embed(TEXTS[:1])
    assert embeddings.embed_documents(TEXTS[:1]) == guard.protect_embedded(TEXTS[:1], clean).astype(float).tolist()
    assert embeddings.embed_query(TEXTS[0]) == embeddings.embed_documents(TEXTS[:1])[0]


@pytest.mark.parametrize("wrapped", [False, True])
async def test_asynchronous_calls_get_the_same_from_a_model_that_is_awaited(guard: Guard, wrapped: bool) -> None:
    guard = without_words(guard, terms("patient"))
    inner = Local(guard) if wrapped else None
    embeddings = VeiledEmbeddings(guard, inner)
    assert np.allclose(await embeddings.aembed_documents(TEXTS), embeddings.embed_documents(TEXTS), atol=1e-6)
    assert np.allclose(await embeddings.aembed_query(TEXTS[0]), embeddings.embed_query(TEXTS[0]), atol=1e-6)
    assert await embeddings.aembed_documents([]) == []
    clean = VeiledEmbeddings(guard, inner, protect_queries=False)
    assert np.allclose(await clean.aembed_query(TEXTS[0]), guard.model.embed(TEXTS[:1])[0], atol=1e-6)
    if inner is not None:
        # Words of documents are gone before the model reads them, those of queries stay.
        assert inner.awaited == [["the has a cold", *TEXTS[1:]], TEXTS[:1], TEXTS[:1]]


def test_embeddings_of_another_model_are_refused(guard: Guard) -> None:
    for size in (16, 7):
        with pytest.raises(EmbedderMismatchError, match="small"):
            VeiledEmbeddings(guard, DeterministicFakeEmbedding(size=size))


@pytest.mark.parametrize("wrapped", [False, True])
def test_queries_can_be_excepted(guard: Guard, wrapped: bool) -> None:
    embeddings = VeiledEmbeddings(guard, Local(guard) if wrapped else None, protect_queries=False)
    assert np.allclose(embeddings.embed_query(TEXTS[0]), guard.model.embed(TEXTS[:1])[0])
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 0


def test_a_store_of_langchain_finds_what_was_put_in(tmp_path: Path, guard: Guard) -> None:
    store = InMemoryVectorStore.from_texts(TEXTS, VeiledEmbeddings(guard))
    assert store.similarity_search(TEXTS[2], k=1)[0].page_content == TEXTS[2]


class NothingExact(InMemoryVectorStore):
    """A store whose order means nothing, as that of strong noise."""

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return sorted(super().similarity_search(query, k, **kwargs), key=lambda one: str(one.id))

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return self.similarity_search(query, k, **kwargs)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("sealed", [False, True])
async def test_what_a_store_found_comes_back_in_its_exact_order(guard: Guard, wrapped: bool, sealed: bool) -> None:
    ids = ["1", "2", "3"]
    store, seals = NothingExact(VeiledEmbeddings(guard)), guard.seal_texts(TEXTS, ids)
    metadatas = [{"seal": write_as_text(seal), "page": row} if sealed else {} for row, seal in enumerate(seals)]
    # Where there are seals, the texts are not looked at.
    texts = [f"{text} and something else" for text in TEXTS] if sealed else TEXTS
    store.add_documents(
        [Document(text, id=one, metadata=of) for text, one, of in zip(texts, ids, metadatas, strict=True)]
    )
    inner = Local(guard) if wrapped else None
    reranker = VeiledReranker(guard, inner, top_n=2)
    retriever = VeiledRetriever(store=store, reranker=reranker, candidates=3)
    exact = guard.model.embed(TEXTS) @ guard.model.embed(["rain today"])[0]
    for found in (retriever.invoke("rain today"), await retriever.ainvoke("rain today")):
        assert [one.id for one in found] == [ids[row] for row in np.argsort(-exact)[:2]]
        scores = [one.metadata["relevance_score"] for one in found]
        assert np.allclose(scores, np.sort(exact)[::-1][:2], atol=1e-3)
        assert all("seal" not in one.metadata for one in found)
    if inner is not None:
        assert inner.awaited == ([["rain today"]] if sealed else [["rain today"], TEXTS])
    kept = store.get_by_ids(ids)
    assert [one.metadata for one in kept] == metadatas


def test_the_retriever_fetches_as_many_candidates_as_it_is_told(guard: Guard) -> None:
    store = InMemoryVectorStore.from_texts(TEXTS, VeiledEmbeddings(guard))
    reranker = VeiledReranker(guard)
    for candidates in (1, 3):
        found = VeiledRetriever(store=store, reranker=reranker, candidates=candidates).invoke(TEXTS[2])
        assert len(found) == candidates
    kept = {"filter": lambda document: document.page_content == TEXTS[0]}
    (only,) = VeiledRetriever(store=store, reranker=reranker, search_kwargs=kept).invoke(TEXTS[2])
    assert only.page_content == TEXTS[0]
    assert VeiledRetriever(store=InMemoryVectorStore(VeiledEmbeddings(guard)), reranker=reranker).invoke("rain") == []


def test_a_document_without_a_seal_or_a_text_is_named_by_its_row(guard: Guard) -> None:
    with pytest.raises(InvalidRowError, match="row 1 has neither a seal nor a text"):
        VeiledReranker(guard).compress_documents([Document("rain"), Document("")], "rain")
    seal = write_as_text(guard.seal_texts(["rain"], ["a"])[0])
    documents = [Document("rain", id="a"), Document("", id="b", metadata={"seal": seal})]
    with pytest.raises(InvalidRowError, match="row 1 has a seal that does not open"):
        VeiledReranker(guard).compress_documents(documents, "rain")
    assert not Path(str(guard.ledger)).exists()
