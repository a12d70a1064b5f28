from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from support.embedders import WordEmbedder
from support.stores import QdrantPlace, failing
from support.veils import PRIVATE_WORD, made_veil, unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError
from vecveil.migrate import drop_backup, migrate, open_store, swap
from vecveil.migrate.folders import remove_folder
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
        pytest.raises(ArtifactError, match=r"could not write to .*\(ValueError\)") as told,
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
    with pytest.raises(ArtifactError, match=r"could not read .* as a folder of Qdrant"):
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
    with place.opened() as store, pytest.raises(InvalidInputError, match=r"have 2 vectors; name one .*: body, title"):
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


BACKUP = "notes-before-vecveil"


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
        store.drop_backup()
        assert rows_on_disk(tmp_path / "store", vectors) == 0
        store.drop_backup()
    assert names(place) == {"notes-vecveil"}
    assert place.rows(BACKUP) is None
    assert len(place.rows("notes") or ()) == 5


def test_files_that_can_not_be_deleted_are_told_and_the_drop_can_be_repeated(
    place: QdrantPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError

    place.fill("notes-2", unit_vectors(5))
    lead(place, notes="notes-2")
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
        with monkeypatch.context() as patch:
            patch.setattr("shutil.rmtree", refused)
            with pytest.raises(ArtifactError, match=r"could not delete .*notes-2; close .* \(PermissionError\)"):
                store.drop_backup()
        assert store.count(BACKUP) == 5
        store.drop_backup()
    assert names(place) == {"notes-vecveil"}


def test_clean_rows_that_something_else_leads_to_are_not_dropped(place: QdrantPlace, guard: Guard) -> None:
    place.fill("notes-2", unit_vectors(5))
    lead(place, notes="notes-2")
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
    lead(place, live="notes-2")
    with place.opened() as store, pytest.raises(InvalidInputError, match=r"notes-2 has other aliases \(live\)"):
        store.drop_backup()
    # Someone goes back to the clean rows.
    without_alias(place, "live")
    lead(place, notes="notes-2")
    with place.opened() as store, pytest.raises(InvalidInputError, match="are one collection, notes-2"):
        store.drop_backup()
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


def test_a_kill_inside_of_a_drop_is_gone_on_from(
    swapped: QdrantPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(QdrantClient, "delete_collection", failing(QdrantClient.delete_collection, after=0))
        with swapped.opened() as store, pytest.raises(KeyboardInterrupt):
            drop_backup(store, guard)
    assert swapped.rows(BACKUP) == {}
    with swapped.opened() as store:
        assert drop_backup(store, guard).rows == 0
        assert store.count(BACKUP) is None


def test_what_a_kill_leaves_of_a_renamed_collection_is_dropped_with_it(
    place: QdrantPlace, guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = unit_vectors(5)
    place.fill("notes", vectors)
    # What a kill within the copy leaves.
    copied = tmp_path / "store" / "collection" / BACKUP / "half"
    copied.parent.mkdir()
    copied.write_bytes(vectors.tobytes())
    with place.opened() as store:
        migrate(store, guard)
        with monkeypatch.context() as patch:
            patch.setattr("vecveil.migrate.qdrant.remove_folder", failing(remove_folder, after=1))
            with pytest.raises(KeyboardInterrupt):
                swap(store, guard)
        assert not copied.exists()
        # Qdrant knows the clean rows by the new name only, and the old folder is still there.
        assert store.is_swap_stopped()
        assert swap(store, guard).rows == 5
        drop_backup(store, guard)
    assert rows_on_disk(tmp_path / "store", vectors) == 0
    assert len(place.rows("notes") or ()) == 5


def test_an_index_of_texts_goes_with_a_renamed_collection(place: QdrantPlace, guard: Guard, tmp_path: Path) -> None:
    place.fill("notes", unit_vectors(5))
    with place.client() as client:
        index = models.TextIndexParams(type=models.TextIndexType.TEXT, scoring=True)
        client.create_payload_index("notes", "page_content", index)
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
    meta = json.loads((tmp_path / "store" / "meta.json").read_bytes())
    assert [*meta["text_indexes"]] == [BACKUP]


def test_the_backup_of_an_earlier_swap_is_not_gone_on_with(swapped: QdrantPlace, guard: Guard) -> None:
    with swapped.opened() as store:
        mark = store.read_mark("notes") or {}
    with swapped.client() as client:
        client.delete_collection("notes-vecveil")
    # The same rows and some more, as if the copy of them had been stopped.
    swapped.fill("notes", unit_vectors(5))
    swapped.fill("notes", unit_vectors(2, seed=3), first=50)
    before = (swapped.rows("notes"), swapped.rows(BACKUP))
    with swapped.opened() as store:
        with pytest.raises(InvalidInputError, match=f"there is a {BACKUP} already"):
            migrate(store, guard)
        store.create_shadow(mark)
        assert not store.is_swap_stopped()
        with pytest.raises(InvalidInputError, match=f"there is a {BACKUP} already"):
            store.swap()
    assert (swapped.rows("notes"), swapped.rows(BACKUP)) == before


@pytest.mark.parametrize("dimensions", [8, 5])
def test_nor_is_it_where_the_shadow_is_still_the_same(swapped: QdrantPlace, guard: Guard, dimensions: int) -> None:
    without_alias(swapped, "notes")
    swapped.fill("notes", unit_vectors(5, dimensions, seed=3))
    before = (swapped.rows("notes"), swapped.rows(BACKUP))
    with swapped.opened() as store:
        assert not store.is_swap_stopped()
        with pytest.raises(InvalidInputError, match=f"there is a {BACKUP} already"):
            store.swap()
    assert (swapped.rows("notes"), swapped.rows(BACKUP)) == before
