from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from support.stores import LancePlace, failing
from support.veils import unit_vectors
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import drop_backup, migrate, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> LancePlace:
    (tmp_path / "store").mkdir()
    return LancePlace(where=f"lancedb:{tmp_path / 'store'}")


def test_a_folder_that_is_no_table_yet_is_no_hindrance(place: LancePlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes-vecveil.lance" / "_versions").mkdir(parents=True)
    with place.opened() as store:
        assert store.list_names() == ["notes"]
        assert migrate(store, guard).rows == 3


def test_a_folder_in_the_place_of_the_backup_is_refused_before_anything_is_paid(
    place: LancePlace, guard: Guard
) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes-before-vecveil.lance").mkdir()
    with place.opened() as store, pytest.raises(InvalidInputError, match="is in the way, which is no table"):
        migrate(store, guard)
    assert place.rows("notes-vecveil") is None


def test_a_drop_that_was_stopped_can_be_repeated(
    place: LancePlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(3))
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
        with monkeypatch.context() as patch:
            patch.setattr("shutil.rmtree", failing(shutil.rmtree, after=1))
            with pytest.raises(KeyboardInterrupt):
                drop_backup(store, guard)
        assert (place.folder / "notes-before-vecveil.lance").exists()
        assert drop_backup(store, guard).rows == 0
    assert sorted(path.name for path in place.folder.iterdir()) == ["notes.lance"]
