from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import chromadb
import numpy as np
import pytest
from chromadb.api import ClientAPI
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import InternalError

from support.embedders import DIMENSIONS
from support.stores import ChromaPlace, failing, text_of
from support.veils import PRIVATE_WORD, unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import drop_backup, migrate, swap
from vecveil.migrate.chroma import HEADER, ChromaStore
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


def traces(folder: Path, vectors: Embeddings, texts: list[str]) -> set[str]:
    """Return the files that hold a vector or a text."""
    wanted = [*(row.tobytes() for row in vectors.astype(np.float32)), *(text.encode() for text in texts)]
    found = ((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())
    return {path.name for path, content in found if any(one in content for one in wanted)}


@pytest.fixture
def swapped(place: ChromaPlace, guard: Guard, vectors: Embeddings) -> ChromaPlace:
    """A collection whose index is on disk and whose newest rows are in the database only, swapped; one of others."""
    index = {"space": "ip", "sync_threshold": 10, "batch_size": 5}
    made = place.client.create_collection("notes", embedding_function=None, configuration={"hnsw": index})
    other = place.client.create_collection("others", embedding_function=None)
    for row in range(0, len(vectors), 3):
        numbers = range(row, min(row + 3, len(vectors)))
        texts = [text_of(one) for one in numbers]
        made.add(ids=[str(one) for one in numbers], embeddings=vectors[row : row + 3], documents=texts)
    other.add(ids=["a"], embeddings=unit_vectors(1, seed=5), documents=["A text that stays where it is."])
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
    return place


def spill(folder: Path, vector: Embeddings) -> None:
    """Write a clean vector into every byte of an index that is not part of it.

    Chroma makes the files of an index of memory that it has not filled, for a hundred rows at first. What was in that
    memory is chance; here it is always a clean vector. Lengths are only filled in where vectors are compared by cosine.
    """
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as database:
        found = database.execute(
            "SELECT s.id, c.name, c.schema_str FROM segments s JOIN collections c ON c.id = s.collection"
        ).fetchall()
    for index, name, schema in found:
        if not (folder / index / "header.bin").exists():
            continue
        _, _, _, rows, row_bytes = HEADER.unpack_from((folder / index / "header.bin").read_bytes())
        cosine = name == "old" or '"space":"cosine"' in schema
        for file, used in (("data_level0.bin", rows * row_bytes), ("length.bin", rows * 4 if cosine else 0)):
            content = (folder / index / file).read_bytes()
            memory = vector.tobytes() * (len(content) // vector.nbytes + 1)
            (folder / index / file).write_bytes(content[:used] + memory[: len(content) - used])


def test_a_backup_that_is_dropped_leaves_nothing_on_disk(
    swapped: ChromaPlace, guard: Guard, vectors: Embeddings, tmp_path: Path
) -> None:
    folder, texts = tmp_path / "store", [text_of(row) for row in range(len(vectors))]
    spill(folder, vectors[0])
    assert traces(folder, vectors, texts) == {"chroma.sqlite3", "data_level0.bin", "length.bin"}
    protected = swapped.rows("notes")
    with swapped.opened() as store:
        assert drop_backup(store, guard).rows == len(vectors)
        assert store.count("notes-before-vecveil") is None
        assert swap(store, guard).backup is None
    assert traces(folder, vectors, texts) == set()
    assert not list(folder.glob("*.dropping"))
    assert swapped.rows("notes") == protected
    other = swapped.client.get_collection("others", embedding_function=None)
    assert other.get(where_document={"$contains": "stays"})["ids"] == ["a"]
    assert other.query(query_embeddings=unit_vectors(1, seed=5), n_results=1)["ids"] == [["a"]]


def test_deleting_by_hand_is_not_enough(swapped: ChromaPlace, vectors: Embeddings, tmp_path: Path) -> None:
    swapped.client.delete_collection("notes-before-vecveil")
    assert traces(tmp_path / "store", vectors, []) >= {"chroma.sqlite3", "data_level0.bin"}


@pytest.mark.parametrize("database", ["default_database", "archive"])
@pytest.mark.parametrize("space", ["cosine", "ip", "l2"])
def test_other_collections_are_cleaned_and_not_changed(
    swapped: ChromaPlace, guard: Guard, vectors: Embeddings, space: str, database: str
) -> None:
    folder = Path(swapped.where.partition(":")[2])
    if database == "archive":
        chromadb.AdminClient(swapped.client.get_settings()).create_database(database)
    made = add_collection(open_client(swapped, database), "more", space)
    query: Any = {"query_embeddings": unit_vectors(3, seed=7), "n_results": 5}
    rows, found = made.get(include=["embeddings"])["embeddings"], made.query(**query)
    spill(folder, vectors[0])
    with swapped.opened() as store:
        drop_backup(store, guard)
    assert traces(folder, vectors, []) == set()
    SharedSystemClient.clear_system_cache()
    again = open_client(swapped, database).get_collection("more", embedding_function=None)
    assert np.array_equal(again.get(include=["embeddings"])["embeddings"], rows)
    assert again.query(**query)["distances"] == found["distances"]


def test_a_collection_of_an_old_version_keeps_the_lengths_of_its_vectors(
    swapped: ChromaPlace, guard: Guard, vectors: Embeddings, tmp_path: Path
) -> None:
    """Versions before 1.0 wrote the space into metadata, and Chroma calls it l2 in the configuration."""
    made = add_collection(swapped.client, "old", "cosine")
    rows = made.get(include=["embeddings"])["embeddings"]
    SharedSystemClient.clear_system_cache()
    with closing(sqlite3.connect(tmp_path / "store" / "chroma.sqlite3")) as database:
        [(segment,)] = database.execute(
            "SELECT id FROM segments WHERE scope = 'VECTOR' AND collection = ?", [str(made.id)]
        )
        database.execute("UPDATE collections SET schema_str = NULL WHERE name = 'old'")
        kept = (segment, "hnsw:space", "cosine")
        database.execute("INSERT INTO segment_metadata (segment_id, key, str_value) VALUES (?, ?, ?)", kept)
        database.commit()
    assert swapped.client.get_collection("old", embedding_function=None).configuration_json["hnsw"]["space"] == "l2"
    spill(tmp_path / "store", vectors[0])
    with swapped.opened() as store:
        drop_backup(store, guard)
    assert traces(tmp_path / "store", vectors, []) == set()
    SharedSystemClient.clear_system_cache()
    old = swapped.client.get_collection("old", embedding_function=None)
    assert np.array_equal(old.get(include=["embeddings"])["embeddings"], rows)


def open_client(place: ChromaPlace, database: str) -> ClientAPI:
    return chromadb.Client(place.client.get_settings(), database=database)


def add_collection(client: ClientAPI, name: str, space: str) -> Collection:
    """Return a collection whose index is on disk, with vectors that are not of length one."""
    settings: Any = {"hnsw": {"space": space, "sync_threshold": 10, "batch_size": 5}}
    made = client.create_collection(name, embedding_function=None, configuration=settings)
    made.add(ids=[str(row) for row in range(60)], embeddings=2 * unit_vectors(60, seed=6))
    return made


def test_a_drop_that_was_stopped_can_be_repeated(
    swapped: ChromaPlace, guard: Guard, vectors: Embeddings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("vecveil.migrate.chroma._clean_folder", failing(print, after=0))
        with swapped.opened() as store, pytest.raises(KeyboardInterrupt):
            drop_backup(store, guard)
    assert traces(tmp_path / "store", vectors, []) != set()
    with swapped.opened() as store:
        assert drop_backup(store, guard).rows == 0
        with pytest.raises(InvalidInputError, match="there is no notes-before-vecveil to drop"):
            drop_backup(store, guard)
    assert traces(tmp_path / "store", vectors, []) == set()


def test_a_store_that_others_write_to_is_not_cleaned_by_half(
    swapped: ChromaPlace, guard: Guard, vectors: Embeddings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vecveil.migrate.chroma.LOCK_SECONDS", 0.1)
    path = tmp_path / "store" / "chroma.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as other, swapped.opened() as store:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM collections").fetchone()
        with pytest.raises(ArtifactError, match="stop whatever has the store open"):
            drop_backup(store, guard)
        assert store.count("notes-before-vecveil") == len(vectors)
