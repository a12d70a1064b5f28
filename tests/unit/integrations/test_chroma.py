from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from chromadb.utils.embedding_functions import config_to_embedding_function

from support.guards import TEXTS, secret_of
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.integrations.chroma import VeiledEmbeddingFunction, query_exactly, query_exactly_async
from vecveil.veil import Guard
from vecveil.veil.seal import write_as_text


def test_a_collection_holds_protected_vectors_and_is_opened_again_by_its_own_configuration(
    guard: Guard, tmp_path: Path
) -> None:
    quiet = Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=quiet)
    made = client.create_collection("notes", embedding_function=VeiledEmbeddingFunction(guard))
    made.add(ids=["a", "b", "c"], documents=TEXTS)
    again = client.get_collection("notes")
    kept = again.get(ids=["a", "b", "c"], include=["embeddings"])["embeddings"]
    assert np.allclose(np.asarray(kept), guard.protect_texts(TEXTS), atol=1e-6)
    found = again.query(query_texts=[TEXTS[2]], n_results=1)
    assert found["ids"] == [["c"]]
    assert made.configuration["hnsw"]["space"] == "cosine"
    files = [path for path in (tmp_path / "chroma").rglob("*") if path.is_file()]
    assert files
    assert not any(secret_of(guard).encode() in path.read_bytes() for path in files)


def test_the_configuration_goes_there_and_back(guard: Guard) -> None:
    function = VeiledEmbeddingFunction(guard)
    config = function.get_config()
    assert secret_of(guard) not in str(config)
    VeiledEmbeddingFunction.validate_config(config)
    assert VeiledEmbeddingFunction.build_from_config(config).get_config() == config
    found = config_to_embedding_function({"name": "vecveil", "type": "known", "config": config})
    assert isinstance(found, VeiledEmbeddingFunction)
    assert not function.is_legacy()


def test_another_veil_is_refused(guard: Guard, tmp_path: Path) -> None:
    function = VeiledEmbeddingFunction(guard)
    config = function.get_config()
    function.validate_config_update(config, config)
    replace(guard.opened_veil, epsilon=31.0).save(tmp_path / "changed.veil")
    changed = {**config, "veil": str(tmp_path / "changed.veil")}
    with pytest.raises(InvalidInputError, match="keeps its veil"):
        function.validate_config_update(config, changed)


def test_a_configuration_of_something_else_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="a guard has"):
        VeiledEmbeddingFunction.validate_config({"model": "x"})


class Awaited:
    """A collection of an asynchronous client, which takes a server."""

    def __init__(self, collection: Any) -> None:
        self._collection = collection

    async def query(self, **asked: Any) -> Any:
        return self._collection.query(**asked)


@pytest.mark.parametrize("sealed", [False, True])
async def test_a_query_comes_back_in_its_exact_order(guard: Guard, tmp_path: Path, sealed: bool) -> None:
    client = chromadb.PersistentClient(str(tmp_path / "chroma"), settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection("notes", embedding_function=VeiledEmbeddingFunction(guard))
    ids = ["a", "b", "c"]
    vectors, seals = guard.protect_and_seal(TEXTS, ids)
    rows: dict[str, Any] = {"documents": None if sealed else TEXTS}
    metadatas = [{"page": row, **({"seal": write_as_text(one)} if sealed else {})} for row, one in enumerate(seals)]
    collection.add(ids=ids, embeddings=vectors, metadatas=metadatas, **rows)  # type: ignore[arg-type]
    exact = guard.model.embed(TEXTS) @ guard.model.embed(["rain today"])[0]
    found = query_exactly(collection, guard, "rain today", n_results=2, candidates=3)
    assert [one["id"] for one in found] == [ids[row] for row in np.argsort(-exact)[:2]]
    assert np.allclose([one["similarity"] for one in found], np.sort(exact)[::-1][:2], atol=1e-3)
    assert [one["metadata"] for one in found] == [{"page": ids.index(one["id"])} for one in found]
    assert await query_exactly_async(Awaited(collection), guard, "rain today", n_results=2, candidates=3) == found  # type: ignore[arg-type]
    (only,) = query_exactly(collection, guard, "rain today", where={"page": 0})
    assert only["id"] == "a"
    with pytest.raises(InvalidInputError, match="candidates must be"):
        query_exactly(collection, guard, "rain", n_results=10, candidates=9)


def test_a_record_without_a_seal_or_a_document_is_named_by_its_row(guard: Guard) -> None:
    client = chromadb.EphemeralClient(settings=Settings(anonymized_telemetry=False))
    collection = client.get_or_create_collection("bare", embedding_function=None)
    collection.add(ids=["a"], embeddings=guard.protect_texts(TEXTS[:1]))
    with pytest.raises(InvalidRowError, match="row 0 has neither a seal nor a text"):
        query_exactly(collection, guard, "rain")
