from __future__ import annotations

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from support.stores import FaissPlace
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import migrate, open_store, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> FaissPlace:
    (tmp_path / "store").mkdir()
    return FaissPlace(where=f"faiss:{tmp_path / 'store'}")


def hnsw() -> Any:
    index = faiss.IndexHNSWFlat(8, 5, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efSearch = 77
    return index


@pytest.mark.parametrize("make", [lambda: faiss.IndexFlatL2(8), lambda: faiss.IndexFlatIP(8), hnsw])
def test_rows_keep_their_places_and_an_index_its_kind(place: FaissPlace, guard: Guard, make: Any) -> None:
    vectors, index = unit_vectors(12), make()
    index.add(vectors)
    faiss.write_index(index, str(place.folder / "notes"))
    with place.opened() as store:
        migrate(store, guard, batch_rows=5)
        swap(store, guard)
    found = faiss.read_index(str(place.folder / "notes"))
    assert type(found) is type(index)
    assert found.metric_type == index.metric_type
    protected = guard.protect_vectors(vectors, ids=range(12))
    protected = protected / np.linalg.norm(protected, axis=1, keepdims=True)
    assert np.allclose(found.reconstruct_n(0, 12), protected, atol=1e-6)
    assert sorted(path.name for path in place.folder.iterdir()) == [
        "notes",
        "notes-before-vecveil",
        "notes.vecveil.json",
    ]


def test_nothing_of_the_clean_vectors_is_in_the_shadow(place: FaissPlace, guard: Guard) -> None:
    vectors, index = unit_vectors(12), hnsw()
    index.add(vectors)
    faiss.write_index(index, str(place.folder / "notes"))
    with place.opened() as store:
        migrate(store, guard)
    written = (place.folder / "notes-vecveil").read_bytes()
    assert vectors[0].tobytes() in (place.folder / "notes").read_bytes()
    assert not any(row[:2].tobytes() in written for row in vectors)


def test_an_index_without_whole_vectors_is_refused(place: FaissPlace, guard: Guard) -> None:
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(8), 8, 2)
    index.train(unit_vectors(100))
    index.add(unit_vectors(12))
    faiss.write_index(index, str(place.folder / "notes"))
    with place.opened() as store, pytest.raises(InvalidInputError, match="is an IndexIVFFlat, which"):
        migrate(store, guard)


def test_ids_must_tell_rows_apart(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3))
    place.fill("notes", unit_vectors(3))
    with place.opened() as store, pytest.raises(InvalidInputError, match="several rows of one id"):
        migrate(store, guard)


def test_what_is_no_index_is_refused(place: FaissPlace, guard: Guard) -> None:
    (place.folder / "notes").write_bytes(b"something else")
    with place.opened() as store, pytest.raises(ArtifactError, match="cannot be read as an index"):
        migrate(store, guard)
    with pytest.raises(InvalidInputError, match="is a file: name its folder"):
        open_store(f"faiss:{place.folder / 'notes'}", "notes")
