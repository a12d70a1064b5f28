from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from support.guards import TEXTS, without_words
from vecveil.concepts import terms
from vecveil.core.errors import EmbedderMismatchError
from vecveil.integrations.langchain import VeiledEmbeddings
from vecveil.ledger import open_ledger
from vecveil.veil import Guard


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
