from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import chromadb
import pytest
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings
from chromadb.errors import InternalError

from support.embedders import DIMENSIONS
from support.stores import ChromaPlace
from support.veils import PRIVATE_WORD, unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import migrate
from vecveil.migrate.chroma import ChromaStore
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> ChromaPlace:
    (tmp_path / "store").mkdir()
    return ChromaPlace(where=f"chroma:{tmp_path / 'store'}")


def test_the_shadow_is_searched_like_the_collection_by_angle_and_has_no_function_of_its_own(
    place: ChromaPlace, guard: Guard
) -> None:
    made = place.client.create_collection(
        "notes", metadata={"owner": "us"}, configuration={"hnsw": {"space": "l2", "ef_search": 77}}
    )
    made.add(ids=["a", "b"], embeddings=unit_vectors(2))
    assert made.configuration_json["embedding_function"]["name"] == "default"
    with place.opened() as store:
        migrate(store, guard)
    shadow = place.client.get_collection("notes-vecveil", embedding_function=None)
    assert shadow.configuration_json["hnsw"] == {**made.configuration_json["hnsw"], "space": "cosine"}
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


def test_more_rows_than_the_database_takes_at_once_are_read_and_written_in_portions(
    place: ChromaPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(3))
    with place.opened() as store:
        with monkeypatch.context() as patch:
            patch.setattr(Client, "get_max_batch_size", Mock(return_value=2))
            assert [len(batch) for batch in store.read_batches("notes", 40_000)] == [2, 1]
            assert migrate(store, guard, batch_rows=40_000).rows == 3
        asked = [f"note-{row}" for row in range(40_000)]
        assert store.find_present(asked) == {"note-0", "note-1", "note-2"}


def broken(*arguments: object, **options: object) -> None:
    raise InternalError(PRIVATE_WORD)


def test_what_the_library_says_is_not_repeated(
    place: ChromaPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(3))

    with place.opened() as store:
        monkeypatch.setattr(Collection, "get", broken)
        with pytest.raises(ArtifactError, match=r"the store could not read notes \(InternalError\)") as refused:
            migrate(store, guard)
        assert PRIVATE_WORD not in str(refused.value)


def test_an_error_is_not_taken_for_a_collection_that_is_not_there(
    place: ChromaPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(3))

    with place.opened() as store:
        monkeypatch.setattr(Client, "get_collection", broken)
        with pytest.raises(ArtifactError, match="could not open notes"):
            store.count("notes")


def test_a_name_that_has_no_room_for_its_backup_is_refused_before_anything_is_paid(
    place: ChromaPlace, guard: Guard
) -> None:
    place.fill("n" * 500, unit_vectors(3))
    with place.opened("n" * 500) as store, pytest.raises(InvalidInputError, match="is too long"):
        migrate(store, guard)
