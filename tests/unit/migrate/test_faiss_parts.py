from __future__ import annotations

from pathlib import Path
from stat import S_IMODE
from typing import Any

import pytest
from support.stores import FaissPlace
from support.veils import unit_vectors

from vecveil.core.errors import ArtifactError
from vecveil.migrate import migrate
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> FaissPlace:
    (tmp_path / "store").mkdir()
    return FaissPlace(where=f"faiss:{tmp_path / 'store'}")


def test_a_stop_while_finished_parts_are_deleted_leaves_a_whole_shadow(
    place: FaissPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(folder: Path, **_: Any) -> None:
        if (folder / "shadow.json").exists():
            (folder / "shadow.json").unlink()
            raise KeyboardInterrupt

    place.fill("notes", unit_vectors(3))
    with monkeypatch.context() as patch:
        patch.setattr("vecveil.migrate.faiss_parts.shutil.rmtree", stopped)
        with place.opened() as store, pytest.raises(KeyboardInterrupt):
            migrate(store, guard)
    assert len([*place.folder.iterdir()]) == 4
    with place.opened() as store:
        assert migrate(store, guard).resumed == 3
    found = sorted(path.name for path in place.folder.iterdir())
    assert found == ["notes", "notes-vecveil", "notes-vecveil.vecveil.json"]


def test_two_migrations_at_once_keep_each_others_parts(place: FaissPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    place.fill("notes", unit_vectors(6))
    with place.opened() as one, place.opened() as other:
        (first, second) = one.batches("notes", 3)
        one.create("notes-vecveil", {"left_out": [], "keep_texts": False})
        assert other.present("notes-vecveil", first.ids) == set()
        with monkeypatch.context() as patch:
            # Both look at what is there before either has written.
            patch.setattr(Path, "glob", lambda *_: iter(()))
            one.append("notes-vecveil", first)
            other.append("notes-vecveil", second)
        assert one.count("notes-vecveil") == 6


def test_parts_are_private_and_a_damaged_one_is_named(place: FaissPlace) -> None:
    place.fill("notes", unit_vectors(3))
    with place.opened() as store:
        store.create("notes-vecveil", {"left_out": [], "keep_texts": False})
        # What waits is for the owner's eyes, as the index may be.
        assert S_IMODE((place.folder / "notes-vecveil.parts").stat().st_mode) == 0o700
        store.append("notes-vecveil", next(store.batches("notes", 3)))
        (part,) = place.folder.rglob("*.npz")
        part.write_bytes(part.read_bytes()[:40])
        with pytest.raises(ArtifactError, match=r"notes-vecveil\.parts is damaged"):
            store.count("notes-vecveil")
