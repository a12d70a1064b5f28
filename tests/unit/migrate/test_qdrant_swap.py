from __future__ import annotations

import struct
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.local.qdrant_local import QdrantLocal
from support.stores import QdrantPlace, failing
from support.veils import unit_vectors

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import migrate, swap
from vecveil.veil import Guard

BACKUP = "notes-before-vecveil"


@pytest.fixture
def place(tmp_path: Path) -> QdrantPlace:
    (tmp_path / "store").mkdir()
    return QdrantPlace(where=f"qdrant:{tmp_path / 'store'}")


@pytest.fixture
def swapped(place: QdrantPlace, guard: Guard) -> QdrantPlace:
    """A store that was migrated and swapped."""
    place.fill("notes", unit_vectors(5))
    with place.opened() as store:
        migrate(store, guard)
        assert swap(store, guard).backup == BACKUP
    return place


def lead(place: QdrantPlace, **aliases: str) -> None:
    """Make aliases of collections."""
    with place.client() as client:
        for name, real in aliases.items():
            made = models.CreateAlias(collection_name=real, alias_name=name)
            client.update_collection_aliases(change_aliases_operations=[models.CreateAliasOperation(create_alias=made)])


def without_alias(place: QdrantPlace, name: str) -> None:
    with place.client() as client:
        gone = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=name))
        client.update_collection_aliases(change_aliases_operations=[gone])


def names(place: QdrantPlace) -> set[str]:
    with place.client() as client:
        return {one.name for one in client.get_collections().collections}


def rows_on_disk(folder: Path, vectors: Embeddings) -> int:
    """Count the vectors that stand in some file: as they are, or as Qdrant writes them, number by number."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    forms = [(row.tobytes(), struct.pack(">d", float(row[0]))) for row in vectors]
    return sum(any(form in file for file in files for form in both) for both in forms)


def test_an_alias_is_moved_and_nothing_is_copied(place: QdrantPlace, guard: Guard) -> None:
    place.fill("notes-2", unit_vectors(5))
    lead(place, notes="notes-2")
    clean = place.rows("notes")
    with place.opened() as store:
        migrate(store, guard)
        done = swap(store, guard)
        # The backup's name is an alias only; who deletes it must know of what.
        assert (done.rows, done.backup) == (5, "notes-2")
        assert swap(store, guard).before
    assert place.rows("notes") == place.rows("notes-vecveil")
    assert place.rows(BACKUP) == place.rows("notes-2") == clean
    assert names(place) == {"notes-2", "notes-vecveil"}


@pytest.mark.parametrize("by_alias", [True, False])
def test_what_is_dropped_is_nowhere_on_disk(
    place: QdrantPlace, guard: Guard, tmp_path: Path, *, by_alias: bool
) -> None:
    vectors = unit_vectors(5)
    place.fill("notes-2" if by_alias else "notes", vectors)
    if by_alias:
        lead(place, notes="notes-2")
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
        assert rows_on_disk(tmp_path / "store", vectors) == 5
        store.drop(BACKUP)
        assert rows_on_disk(tmp_path / "store", vectors) == 0
        store.drop(BACKUP)
    assert names(place) == {"notes-vecveil"}
    assert place.rows(BACKUP) is None
    assert len(place.rows("notes") or ()) == 5


def test_what_is_left_of_a_folder_is_told(swapped: QdrantPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    with swapped.opened() as store:
        monkeypatch.setattr("qdrant_client.local.qdrant_local.shutil.rmtree", lambda *_, **__: None)
        with pytest.raises(ArtifactError, match=f"{BACKUP} could not be deleted, and clean rows are in it"):
            store.drop(BACKUP)


def test_clean_rows_that_something_else_leads_to_are_not_dropped(place: QdrantPlace, guard: Guard) -> None:
    place.fill("notes-2", unit_vectors(5))
    lead(place, notes="notes-2")
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
    lead(place, live="notes-2")
    with place.opened() as store, pytest.raises(InvalidInputError, match=r"notes-2 has other aliases \(live\)"):
        store.drop(BACKUP)
    # Someone goes back to the clean rows.
    without_alias(place, "live")
    lead(place, notes="notes-2")
    with place.opened() as store, pytest.raises(InvalidInputError, match="are one collection, notes-2"):
        store.drop(BACKUP)
    assert len(place.rows("notes-2") or ()) == 5


def test_aliases_that_would_be_lost_or_left_are_refused_before_anything_is_written(
    place: QdrantPlace, guard: Guard
) -> None:
    place.fill("notes-2", unit_vectors(5))
    lead(place, live="notes-2")
    with (
        place.opened("notes-2") as store,
        pytest.raises(InvalidInputError, match=r"notes-2 has aliases \(live\): migrate by one of them"),
    ):
        migrate(store, guard)
    lead(place, notes="notes-2")
    with (
        place.opened("notes") as store,
        pytest.raises(InvalidInputError, match=r"several aliases of notes-2, and the others \(live\)"),
    ):
        migrate(store, guard)
    assert names(place) == {"notes-2"}


def test_a_name_that_is_too_long_for_a_backup_is_refused(place: QdrantPlace, guard: Guard) -> None:
    place.fill("n" * 245, unit_vectors(2))
    with place.opened("n" * 245) as store, pytest.raises(InvalidInputError, match="too long for a name"):
        migrate(store, guard)
    assert names(place) == {"n" * 245}


def test_a_kill_inside_of_the_deletion_is_gone_on_from(
    place: QdrantPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(5))
    with place.opened() as store:
        migrate(store, guard)
    clean, shadow = place.rows("notes"), place.rows("notes-vecveil")
    with monkeypatch.context() as patch:
        # Qdrant writes its list of collections when it has made the copy, and after it has deleted a folder.
        patch.setattr(QdrantLocal, "_save", failing(QdrantLocal._save, after=1))
        with place.opened() as store, pytest.raises(KeyboardInterrupt):
            swap(store, guard)
    assert place.rows("notes") == {}
    with place.opened() as store:
        assert store.halfway(BACKUP)
        assert swap(store, guard).rows == 5
    assert (place.rows("notes"), place.rows(BACKUP)) == (shadow, clean)


def test_a_copy_by_angle_is_known_for_what_it_is(
    place: QdrantPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.client() as client:
        params = models.VectorParams(size=8, distance=models.Distance.COSINE)
        client.create_collection("notes", vectors_config={"body": params})
        rows = enumerate(unit_vectors(40).tolist())
        client.upsert("notes", points=[models.PointStruct(id=one, vector={"body": row}) for one, row in rows])
    with place.opened() as store:
        migrate(store, guard)
        with monkeypatch.context() as patch:
            patch.setattr(QdrantClient, "delete_collection", failing(QdrantClient.delete_collection, after=0))
            with pytest.raises(KeyboardInterrupt):
                swap(store, guard)
        assert swap(store, guard).rows == 40
    assert names(place) == {"notes-vecveil", BACKUP}


def test_an_empty_collection_beside_half_a_copy_is_no_stopped_swap(
    place: QdrantPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(5))
    with place.opened() as store:
        migrate(store, guard)
        with monkeypatch.context() as patch:
            patch.setattr(QdrantClient, "upsert", failing(QdrantClient.upsert, after=0))
            with pytest.raises(KeyboardInterrupt):
                swap(store, guard)
        assert store.halfway(BACKUP)
    with place.client() as client:
        client.delete("notes", points_selector=[0, 1, 2, 3, 4])
    with place.opened() as store:
        assert not store.halfway(BACKUP)


def test_the_backup_of_an_earlier_swap_is_not_gone_on_with(swapped: QdrantPlace, guard: Guard) -> None:
    with swapped.opened() as store:
        mark = store.mark("notes")
    with swapped.client() as client:
        client.delete_collection("notes-vecveil")
    # The same rows and some more, as if the copy of them had been stopped.
    swapped.fill("notes", unit_vectors(5))
    swapped.fill("notes", unit_vectors(2, seed=3), first=50)
    before = (swapped.rows("notes"), swapped.rows(BACKUP))
    with swapped.opened() as store:
        with pytest.raises(InvalidInputError, match=f"there is a {BACKUP} already"):
            migrate(store, guard)
        store.create("notes-vecveil", {**(mark or {}), "made": "0123456789abcdef"})
        assert not store.halfway(BACKUP)
        with pytest.raises(InvalidInputError, match=f"there is a {BACKUP} already"):
            store.swap("notes-vecveil", BACKUP)
    assert (swapped.rows("notes"), swapped.rows(BACKUP)) == before


@pytest.mark.parametrize("dimensions", [8, 5])
def test_nor_is_it_where_the_shadow_is_still_the_same(swapped: QdrantPlace, guard: Guard, dimensions: int) -> None:
    without_alias(swapped, "notes")
    swapped.fill("notes", unit_vectors(5, dimensions, seed=3))
    before = (swapped.rows("notes"), swapped.rows(BACKUP))
    with swapped.opened() as store:
        assert not store.halfway(BACKUP)
        with pytest.raises(InvalidInputError, match=f"there is a {BACKUP} already"):
            store.swap("notes-vecveil", BACKUP)
    assert (swapped.rows("notes"), swapped.rows(BACKUP)) == before
