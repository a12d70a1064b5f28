from __future__ import annotations

import os
from pathlib import Path
from stat import S_IMODE

import pytest

from support.stores import FaissPlace, failing
from support.veils import unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import migrate, swap
from vecveil.veil import Guard

BACKUP = "notes-before-vecveil"


@pytest.fixture
def place(tmp_path: Path) -> FaissPlace:
    (tmp_path / "store").mkdir()
    return FaissPlace(where=f"faiss:{tmp_path / 'store'}")


def rows_on_disk(folder: Path, vectors: Embeddings) -> int:
    """Count the vectors that stand in some file."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return sum(any(row.tobytes() in file for file in files) for row in vectors)


def test_what_is_dropped_is_nowhere_on_disk(place: FaissPlace, guard: Guard) -> None:
    vectors = unit_vectors(5)
    place.fill("notes", vectors)
    with place.opened() as store:
        migrate(store, guard)
        assert swap(store, guard).backup == BACKUP
        assert rows_on_disk(place.folder, vectors) == 5
        store.drop_backup()
        assert rows_on_disk(place.folder, vectors) == 0
        store.drop_backup()
    assert sorted(path.name for path in place.folder.iterdir()) == ["notes", "notes.vecveil.json"]


def test_a_file_of_someone_else_is_not_dropped_with_it(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(5))
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
        (place.folder / f"{BACKUP}.vecveil.json").write_text("mine", encoding="utf-8")
        store.drop_backup()
    assert (place.folder / f"{BACKUP}.vecveil.json").exists()


def test_clean_vectors_that_have_another_name_are_not_dropped(
    place: FaissPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(5))
    with place.opened() as store:
        migrate(store, guard)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "replace", failing(Path.replace, after=0))
            with pytest.raises(KeyboardInterrupt):
                swap(store, guard)
        with pytest.raises(InvalidInputError, match="notes is still the clean file"):
            store.drop_backup()
        swap(store, guard)
        os.link(place.folder / BACKUP, place.folder / "old")
        with pytest.raises(InvalidInputError, match=r"1 other names \(hard links: old\)"):
            store.drop_backup()
    assert (place.folder / BACKUP).exists()


@pytest.mark.parametrize("kind", ["symbolic", "hard", "elsewhere"])
def test_a_file_with_other_names_is_refused_before_anything_is_written(
    place: FaissPlace, guard: Guard, kind: str
) -> None:
    place.fill("v3.index", unit_vectors(5))
    notes, target = place.folder / "notes", place.folder / "v3.index"
    if kind == "symbolic":
        notes.symlink_to("v3.index")
    elif kind == "hard":
        os.link(target, notes)
    else:
        os.link(target, notes)
        target.rename(place.folder.parent / "v3.index")
    before = sorted(path.name for path in place.folder.iterdir())
    words = {
        "symbolic": "notes is a link to v3.index",
        "hard": r"notes has 1 other names \(hard links: v3.index\)",
        "elsewhere": r"hard links: in another folder\)",
    }
    with place.opened() as store, pytest.raises(InvalidInputError, match=words[kind]):
        migrate(store, guard)
    assert sorted(path.name for path in place.folder.iterdir()) == before
    assert guard.ledger is not None
    assert not Path(str(guard.ledger)).exists()


def test_who_may_read_an_index_may_read_what_takes_its_place(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(5))
    (place.folder / "notes").chmod(0o640)
    with place.opened() as store:
        migrate(store, guard)
        assert S_IMODE((place.folder / "notes-vecveil").stat().st_mode) == 0o640
        (place.folder / "notes").chmod(0o600)
        swap(store, guard)
    assert S_IMODE((place.folder / "notes").stat().st_mode) == 0o600


def test_a_backup_that_is_in_the_way_is_not_lost(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(5))
    with place.opened() as store:
        migrate(store, guard)
        place.fill(BACKUP, unit_vectors(2))
        before = (place.rows("notes"), place.rows(BACKUP))
        with pytest.raises(ArtifactError, match=r"could not swap .*notes \(FileExistsError\)"):
            store.swap()
    assert (place.rows("notes"), place.rows(BACKUP)) == before
