from __future__ import annotations

from pathlib import Path

import pytest
from qdrant_client import models
from support.stores import QdrantPlace
from support.veils import unit_vectors

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import migrate, open_store, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> QdrantPlace:
    (tmp_path / "store").mkdir()
    return QdrantPlace(where=f"qdrant:{tmp_path / 'store'}")


def test_an_alias_is_moved_and_nothing_is_copied(place: QdrantPlace, guard: Guard) -> None:
    place.fill("notes-2", unit_vectors(5))
    with place.client() as client:
        made = models.CreateAlias(collection_name="notes-2", alias_name="notes")
        client.update_collection_aliases(change_aliases_operations=[models.CreateAliasOperation(create_alias=made)])
    clean = place.rows("notes")
    with place.opened() as store:
        migrate(store, guard)
        assert swap(store, guard).rows == 5
        assert swap(store, guard).before
    assert place.rows("notes") == place.rows("notes-vecveil")
    assert place.rows("notes-before-vecveil") == place.rows("notes-2") == clean
    with place.client() as client:
        assert {one.name for one in client.get_collections().collections} == {"notes-2", "notes-vecveil"}


def test_a_collection_that_other_aliases_lead_to_is_not_deleted(place: QdrantPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(5))
    with place.client() as client:
        made = models.CreateAlias(collection_name="notes", alias_name="live")
        client.update_collection_aliases(change_aliases_operations=[models.CreateAliasOperation(create_alias=made)])
    with place.opened() as store:
        migrate(store, guard)
        with pytest.raises(InvalidInputError, match=r"notes has aliases \(live\): migrate by one of them"):
            swap(store, guard)
    assert place.rows("live") == place.rows("notes")
    assert place.rows("notes-before-vecveil") is None


def test_rows_may_be_named_by_uuids(place: QdrantPlace, guard: Guard) -> None:
    name = "6f1c0f4e-8f57-4d3c-9a34-0d4b6f1f3c11"
    place.fill("notes", unit_vectors(3))
    with place.client() as client:
        vector = unit_vectors(1, seed=5)[0].tolist()
        client.upsert("notes", points=[models.PointStruct(id=name, vector=vector, payload={})])
    with place.opened() as store:
        assert migrate(store, guard).rows == 4
        assert migrate(store, guard).resumed == 4
    rows = place.rows("notes-vecveil")
    assert rows is not None
    assert name in rows


def test_other_vectors_of_a_row_are_left_out(place: QdrantPlace, guard: Guard) -> None:
    with place.client() as client:
        params = models.VectorParams(size=8, distance=models.Distance.COSINE)
        client.create_collection(
            "notes",
            vectors_config={"body": params, "title": params},
            sparse_vectors_config={"words": models.SparseVectorParams()},
        )
        words = models.SparseVector(indices=[3], values=[1.0])
        body, title = unit_vectors(2).tolist()
        point = models.PointStruct(id=1, vector={"body": body, "title": title, "words": words}, payload={"page": 1})
        client.upsert("notes", points=[point])
    with place.opened() as store, pytest.raises(InvalidInputError, match=r"several vectors; name one .*: body, title"):
        migrate(store, guard)
    with place.opened(vector_column="body") as store:
        assert migrate(store, guard).left_out == ("title", "words")
        assert swap(store, guard).rows == 1
    with place.client() as client:
        (found,), _ = client.scroll("notes", with_vectors=True)
        assert isinstance(found.vector, dict)
        assert [*found.vector] == ["body"]
        (kept,), _ = client.scroll("notes-before-vecveil", with_vectors=True)
        assert isinstance(kept.vector, dict)
        assert {*kept.vector} == {"body", "title", "words"}


def test_a_row_without_a_vector_is_named(place: QdrantPlace, guard: Guard) -> None:
    with place.client() as client:
        params = models.VectorParams(size=8, distance=models.Distance.COSINE)
        client.create_collection("notes", vectors_config={"body": params})
        client.upsert("notes", points=[models.PointStruct(id=1, vector={}, payload={})])
    with place.opened() as store, pytest.raises(InvalidInputError, match="row 0 has no vector"):
        migrate(store, guard)


# Qdrant leaves the file open that it could not lock.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_folder_that_another_client_holds_is_refused(place: QdrantPlace) -> None:
    place.fill("notes", unit_vectors(1))
    with place.client(), pytest.raises(ArtifactError, match="open in another program"):
        open_store(place.where, "notes")
