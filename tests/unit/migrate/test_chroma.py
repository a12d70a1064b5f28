from __future__ import annotations

from pathlib import Path

import chromadb
import pytest
from chromadb.config import Settings
from support.embedders import DIMENSIONS
from support.stores import ChromaPlace
from support.veils import unit_vectors

from vecveil.migrate import migrate
from vecveil.migrate.chroma import ChromaStore
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> ChromaPlace:
    (tmp_path / "store").mkdir()
    return ChromaPlace(where=f"chroma:{tmp_path / 'store'}")


def test_the_shadow_is_searched_like_the_collection_and_has_no_function_of_its_own(
    place: ChromaPlace, guard: Guard
) -> None:
    made = place.client.create_collection(
        "notes", metadata={"owner": "us"}, configuration={"hnsw": {"space": "cosine", "ef_search": 77}}
    )
    made.add(ids=["a", "b"], embeddings=unit_vectors(2))
    assert made.configuration_json["embedding_function"]["name"] == "default"
    with place.opened() as store:
        migrate(store, guard)
    shadow = place.client.get_collection("notes-vecveil", embedding_function=None)
    assert shadow.configuration_json["hnsw"] == made.configuration_json["hnsw"]
    # The collection's function makes clean vectors of new texts and of queries.
    assert shadow.configuration_json["embedding_function"] == {"type": "legacy"}
    assert shadow.metadata["owner"] == "us"


def test_rows_need_not_have_texts_or_metadata(place: ChromaPlace, guard: Guard) -> None:
    made = place.client.create_collection("notes", embedding_function=None)
    made.add(ids=["a"], embeddings=unit_vectors(1), documents=["a text"], metadatas=[{"page": 1}])
    made.add(ids=["b"], embeddings=unit_vectors(1, seed=1))
    with place.opened() as store:
        migrate(store, guard, keep_texts=True)
    rows = place.rows("notes-vecveil")
    assert rows is not None
    assert [row[1:] for row in rows.values()] == [({"page": 1}, "a text"), (None, None)]


def test_an_open_client_can_be_handed_in(guard: Guard) -> None:
    client = chromadb.EphemeralClient(settings=Settings(anonymized_telemetry=False))
    made = client.create_collection("in-memory", embedding_function=None)
    made.add(ids=["a"], embeddings=unit_vectors(1, DIMENSIONS))
    assert migrate(ChromaStore(client, "in-memory"), guard).rows == 1
