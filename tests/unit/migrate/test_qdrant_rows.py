from __future__ import annotations

from pathlib import Path

import pytest
from qdrant_client import models
from support.stores import QdrantPlace
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.migrate import migrate, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> QdrantPlace:
    (tmp_path / "store").mkdir()
    return QdrantPlace(where=f"qdrant:{tmp_path / 'store'}")


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


def test_a_vector_that_is_misspelt_is_named_beside_those_that_there_are(place: QdrantPlace, guard: Guard) -> None:
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
