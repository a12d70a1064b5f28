from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from support.stores import ChromaPlace, failing, text_of
from support.veils import unit_vectors

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import drop_backup, migrate, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> ChromaPlace:
    (tmp_path / "store").mkdir()
    return ChromaPlace(where=f"chroma:{tmp_path / 'store'}")


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


def test_a_backup_that_is_dropped_leaves_nothing_on_disk(
    swapped: ChromaPlace, guard: Guard, vectors: Embeddings, tmp_path: Path
) -> None:
    folder, texts = tmp_path / "store", [text_of(row) for row in range(len(vectors))]
    assert traces(folder, vectors, texts) == {"chroma.sqlite3", "data_level0.bin"}
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
    assert traces(tmp_path / "store", vectors, []) == {"chroma.sqlite3", "data_level0.bin"}


def test_a_drop_that_was_stopped_can_be_repeated(
    swapped: ChromaPlace, guard: Guard, vectors: Embeddings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("vecveil.migrate.chroma.clean", failing(print, after=0))
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
    monkeypatch.setattr("vecveil.migrate.chroma_folder.PATIENCE", 0.1)
    path = tmp_path / "store" / "chroma.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as other, swapped.opened() as store:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM collections").fetchone()
        with pytest.raises(ArtifactError, match="stop whatever has the store open"):
            drop_backup(store, guard)
        assert store.count("notes-before-vecveil") == len(vectors)
