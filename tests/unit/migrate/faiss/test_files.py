from __future__ import annotations

from pathlib import Path
from stat import S_IMODE
from typing import Any

import faiss
import numpy as np
import pytest

from support.stores import FaissPlace, failing
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import migrate, open_store, swap
from vecveil.migrate.faiss.files import UnfinishedShadow
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
    with place.opened() as store, pytest.raises(ArtifactError, match=r"could not read .* as an index"):
        migrate(store, guard)
    with pytest.raises(InvalidInputError, match="is a file: name its folder"):
        open_store(f"faiss:{place.folder / 'notes'}", "notes")


def test_a_stop_before_a_finished_shadow_is_tidied_up_leaves_it_whole(
    place: FaissPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(3))
    with monkeypatch.context() as patch:
        patch.setattr(UnfinishedShadow, "remove", failing(UnfinishedShadow.remove, after=0))
        with place.opened() as store, pytest.raises(KeyboardInterrupt):
            migrate(store, guard)
    assert len([*place.folder.iterdir()]) == 4
    with place.opened() as store:
        assert migrate(store, guard).resumed == 3
    found = sorted(path.name for path in place.folder.iterdir())
    assert found == ["notes", "notes-vecveil", "notes-vecveil.vecveil.json"]


def test_two_migrations_at_once_keep_each_others_rows(place: FaissPlace) -> None:
    place.fill("notes", unit_vectors(6))
    with place.opened() as one, place.opened() as other:
        (first, second) = one.read_batches("notes", 3)
        one.create_shadow({"left_out": [], "keep_texts": False})
        assert other.find_present(first.ids) == set()
        one.append(first)
        other.append(second)
        assert one.count("notes-vecveil") == 6


def test_an_unfinished_shadow_is_private_and_a_damaged_one_is_named(place: FaissPlace) -> None:
    place.fill("notes", unit_vectors(3))
    with place.opened() as store:
        store.create_shadow({"left_out": [], "keep_texts": False})
        path = place.folder / "notes-vecveil.unfinished"
        # What waits is for the owner's eyes, as the index may be.
        assert S_IMODE(path.stat().st_mode) == 0o600
        store.append(next(store.read_batches("notes", 3)))
        assert store.list_names() == ["notes"]
        path.write_bytes(path.read_bytes()[:40])
        with pytest.raises(ArtifactError, match=r"notes-vecveil\.unfinished: it is damaged"):
            store.count("notes-vecveil")


def test_what_stands_beside_an_index_is_left_alone(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes.json").write_text('{"0": "first"}', encoding="utf-8")
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
        assert store.columns == {}
        assert [*store.list_names()] == ["notes", "notes-before-vecveil"]
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
        assert store.read_mark("notes") is None
    assert sorted(path.name for path in place.folder.iterdir()) == sorted(["notes", name])
    assert (place.folder / name).read_bytes() == content


def test_a_shadow_is_not_made_over_a_file_of_someone_else(place: FaissPlace) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes-vecveil.vecveil.json").write_bytes(b"\xff")
    with place.opened() as store, pytest.raises(InvalidInputError, match="is not from here"):
        store.create_shadow({"left_out": [], "keep_texts": False})


def test_a_note_is_the_mark_of_one_index_only(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3))
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
    # Someone puts a clean index in its place.
    place.fill("other", unit_vectors(4))
    (place.folder / "other").replace(place.folder / "notes")
    with place.opened() as store:
        assert store.read_mark("notes") is None


def test_seals_lie_beside_an_index_for_all_who_may_read_it(place: FaissPlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(5))
    (place.folder / "notes").chmod(0o640)
    with place.opened() as store:
        migrate(store, guard, seal=True)
        beside = place.folder / "notes-vecveil.seals.parquet"
        assert beside.stat().st_mode & 0o777 == 0o640
        assert [*place.seals("notes-vecveil")] == [0, 7, 14, 21, 28]
        assert store.list_names() == ["notes", "notes-vecveil"]
    # Those of a shadow that was deleted do not stay beside the next one.
    for name in ("notes-vecveil", "notes-vecveil.vecveil.json"):
        (place.folder / name).unlink()
    with place.opened() as store:
        migrate(store, guard)
    assert not beside.exists()


def test_a_swap_that_was_stopped_behind_its_seals_goes_on(
    place: FaissPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(5))
    with place.opened() as store:
        migrate(store, guard, seal=True)
    replace, stopped = Path.replace, []

    def stop(path: Path, target: Path) -> Path:
        if path.name == "notes-vecveil" and not stopped:
            stopped.append(path)
            raise KeyboardInterrupt
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", stop)
    with place.opened() as store, pytest.raises(KeyboardInterrupt):
        swap(store, guard)
    with place.opened() as store:
        assert swap(store, guard).backup == "notes-before-vecveil"
    assert len(place.seals("notes")) == 5
    assert place.seals("notes-vecveil") == {}
