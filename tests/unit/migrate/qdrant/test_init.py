from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from support.embedders import WordEmbedder
from support.stores import QdrantPlace, failing
from support.veils import PRIVATE_WORD, made_veil, unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError
from vecveil.migrate import migrate, open_store, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> QdrantPlace:
    (tmp_path / "store").mkdir()
    return QdrantPlace(where=f"qdrant:{tmp_path / 'store'}")


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


def test_lengths_that_qdrant_forgets_for_a_while_do_not_pass_for_changes(
    place: QdrantPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = WordEmbedder().fingerprint
    longer = made_veil(epsilon=2000.0, fingerprint=replace(words, normalized=False))
    guard = replace(guard, veil=longer, embedder=None)
    with place.client() as client:
        params = models.VectorParams(size=8, distance=models.Distance.COSINE)
        client.create_collection("notes", vectors_config=params)
        rows = enumerate((3 * unit_vectors(6)).tolist())
        client.upsert("notes", points=[models.PointStruct(id=one, vector=row) for one, row in rows])
    with place.opened() as store:
        with monkeypatch.context() as patch:
            patch.setattr(store, "append", failing(store.append, after=1))
            with pytest.raises(KeyboardInterrupt):
                migrate(store, guard, batch_rows=2)
        assert migrate(store, guard, batch_rows=2).resumed == 2
        assert swap(store, guard).rows == 6


def test_what_the_library_says_of_a_row_is_not_told(
    place: QdrantPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: Any, **options: Any) -> None:
        raise ValueError(f"{PRIVATE_WORD} is no payload")

    place.fill("notes", unit_vectors(2))
    monkeypatch.setattr(QdrantClient, "upsert", refused)
    with (
        place.opened() as store,
        pytest.raises(ArtifactError, match=r"could not be added.*\(ValueError\)") as told,
    ):
        migrate(store, guard)
    assert PRIVATE_WORD not in str(told.value)
    assert told.value.__suppress_context__


# Qdrant leaves open what it opened before it failed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("file", ["meta.json", "collection/notes/storage.sqlite"])
def test_a_damaged_store_is_named(place: QdrantPlace, tmp_path: Path, file: str) -> None:
    place.fill("notes", unit_vectors(1))
    (tmp_path / "store" / file).write_bytes(
        b"[ something else, and longer than a header of SQLite, which is 100 bytes" * 3
    )
    with pytest.raises(ArtifactError, match="cannot be read as a Qdrant store"):
        open_store(place.where, "notes")


# Qdrant leaves the file open that it could not lock.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_folder_that_another_client_holds_is_refused(place: QdrantPlace) -> None:
    place.fill("notes", unit_vectors(1))
    with place.client(), pytest.raises(ArtifactError, match="open in another program"):
        open_store(place.where, "notes")


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


def test_a_vector_that_is_misspelled_is_named_beside_those_that_there_are(place: QdrantPlace, guard: Guard) -> None:
    with place.client() as client:
        params = models.VectorParams(size=8, distance=models.Distance.COSINE)
        client.create_collection("notes", vectors_config={"body": params})
        client.upsert("notes", points=[models.PointStruct(id=1, vector={"body": unit_vectors(1)[0].tolist()})])
    with place.opened(vector_column="bdy") as store, pytest.raises(UnknownNameError, match="did you mean 'body'"):
        migrate(store, guard)
    with place.opened() as store:
        assert store.columns == {"vector_column": "body"}
        assert migrate(store, guard).rows == 1


def test_a_vector_without_a_name_leaves_no_choice(place: QdrantPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(2))
    with place.opened(vector_column="body") as store, pytest.raises(InvalidInputError, match="have no names"):
        migrate(store, guard)
    with place.opened() as store:
        assert store.columns == {"vector_column": None}


def test_a_vector_without_a_name_may_stand_beside_sparse_ones(place: QdrantPlace, guard: Guard) -> None:
    with place.client() as client:
        params = models.VectorParams(size=8, distance=models.Distance.DOT)
        sparse = {"words": models.SparseVectorParams()}
        client.create_collection("notes", vectors_config=params, sparse_vectors_config=sparse)
        words = models.SparseVector(indices=[3], values=[1.0])
        vector = {"": unit_vectors(1)[0].tolist(), "words": words}
        client.upsert("notes", points=[models.PointStruct(id=1, vector=vector, payload={})])
    with place.opened() as store:
        assert migrate(store, guard).left_out == ("words",)
        assert swap(store, guard).rows == 1
    with place.client() as client:
        (kept,), _ = client.scroll("notes-before-vecveil", with_vectors=True)
        assert kept.vector == vector


def test_many_vectors_in_place_of_one_are_refused(place: QdrantPlace, guard: Guard) -> None:
    many = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    with place.client() as client:
        params = models.VectorParams(size=8, distance=models.Distance.DOT, multivector_config=many)
        client.create_collection("notes", vectors_config=params)
        rows = [models.PointStruct(id=row, vector=unit_vectors(row).tolist(), payload={}) for row in (1, 2)]
        client.upsert("notes", points=rows)
    with place.opened() as store, pytest.raises(InvalidInputError, match="multivector_config"):
        migrate(store, guard)


def test_rows_with_sparse_vectors_alone_are_refused(place: QdrantPlace, guard: Guard) -> None:
    with place.client() as client:
        sparse = {"words": models.SparseVectorParams()}
        client.create_collection("notes", vectors_config={}, sparse_vectors_config=sparse)
        words = models.SparseVector(indices=[3], values=[1.0])
        client.upsert("notes", points=[models.PointStruct(id=1, vector={"words": words}, payload={})])
    with place.opened() as store, pytest.raises(InvalidInputError, match="no dense vectors"):
        migrate(store, guard)
