from __future__ import annotations

from pathlib import Path

import pytest
from support.stores import FaissPlace
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.migrate import migrate, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> FaissPlace:
    (tmp_path / "store").mkdir()
    return FaissPlace(where=f"faiss:{tmp_path / 'store'}")


def test_what_stands_beside_an_index_is_left_alone(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes.json").write_text('{"0": "first"}', encoding="utf-8")
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
        assert store.columns == {}
        assert [*store.names()] == ["notes", "notes-before-vecveil"]
    assert (place.folder / "notes.json").read_text(encoding="utf-8") == '{"0": "first"}'


@pytest.mark.parametrize("name", ["notes.vecveil.json", "notes-vecveil.vecveil.json"])
@pytest.mark.parametrize("content", [b"\xff\xfe\x00 no text", b'{"0": "first"}'])
def test_a_file_of_someone_else_is_no_note_and_not_overwritten(
    place: FaissPlace, guard: Guard, name: str, content: bytes
) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / name).write_bytes(content)
    with place.opened() as store:
        with pytest.raises(InvalidInputError, match=f"{name} is not from here"):
            migrate(store, guard)
        assert store.mark("notes") is None
    assert sorted(path.name for path in place.folder.iterdir()) == sorted(["notes", name])
    assert (place.folder / name).read_bytes() == content


def test_a_shadow_is_not_made_over_a_file_of_someone_else(place: FaissPlace) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes-vecveil.vecveil.json").write_bytes(b"\xff")
    with place.opened() as store, pytest.raises(InvalidInputError, match="is not from here"):
        store.create("notes-vecveil", {"left_out": [], "keep_texts": False})


def test_a_note_is_the_mark_of_one_index_only(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3))
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
    # Someone puts a clean index in its place.
    place.fill("other", unit_vectors(4))
    (place.folder / "other").replace(place.folder / "notes")
    with place.opened() as store:
        assert store.mark("notes") is None
