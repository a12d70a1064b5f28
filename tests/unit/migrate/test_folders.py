"""Stores whose collections are renamed one at a time: Chroma and LanceDB."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromadb.api.models.Collection import Collection

from support.stores import ChromaPlace, Place, failing, make_place
from support.veils import unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import Backup, SwapResult, find_backup, migrate, swap
from vecveil.migrate.folders import remove_folder, to_folder, trying
from vecveil.veil import Guard


@pytest.fixture(params=["chroma", "lancedb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return make_place(request.param, tmp_path)


def run_swap(place: Place, guard: Guard) -> SwapResult:
    with place.opened() as store:
        return swap(store, guard)


def stop_second_rename(patch: pytest.MonkeyPatch, place: Place) -> None:
    """Have the first of two renames work, and the program stopped at the second."""
    owner, name = (Collection, "modify") if isinstance(place, ChromaPlace) else (Path, "rename")
    patch.setattr(owner, name, failing(getattr(owner, name), after=1))


def test_an_empty_collection_that_came_into_a_stopped_swap_gives_way(
    ready: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    with monkeypatch.context() as patch:
        stop_second_rename(patch, ready)
        with ready.opened() as store, pytest.raises(KeyboardInterrupt):
            swap(store, guard)
    assert ready.rows("notes") is None
    with ready.opened() as store, pytest.raises(InvalidInputError, match="23 rows: a swap of it was stopped; repeat"):
        migrate(store, guard)
    ready.fill("notes", unit_vectors(0))
    with ready.opened() as store, pytest.raises(InvalidInputError, match="a swap of it was stopped; repeat"):
        migrate(store, guard)
    run_swap(ready, guard)
    assert ready.rows("notes") == shadow
    assert ready.rows("notes-before-vecveil") == clean


def test_rows_that_came_into_a_stopped_swap_are_kept_like_the_others(
    ready: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stop_second_rename(patch, ready)
        with ready.opened() as store, pytest.raises(KeyboardInterrupt):
            swap(store, guard)
    ready.fill("notes", unit_vectors(2))
    kept = [ready.rows(name) for name in ("notes", "notes-vecveil", "notes-before-vecveil")]
    for work in (swap, migrate):
        with ready.opened() as store, pytest.raises(InvalidInputError, match="with 23 rows; they may be the only"):
            work(store, guard)
    assert [ready.rows(name) for name in ("notes", "notes-vecveil", "notes-before-vecveil")] == kept


def test_a_swap_can_be_undone_by_changing_the_names_back(ready: Place, guard: Guard) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    run_swap(ready, guard)
    for old, new in (("notes", "notes-vecveil"), ("notes-before-vecveil", "notes")):
        if isinstance(ready, ChromaPlace):
            ready.client.get_collection(old, embedding_function=None).modify(name=new)
        else:
            folder = Path(ready.where.partition(":")[2])
            (folder / f"{old}.lance").rename(folder / f"{new}.lance")
    assert (ready.rows("notes"), ready.rows("notes-vecveil")) == (clean, shadow)
    with ready.opened() as store:
        assert migrate(store, guard).resumed == 23
    assert run_swap(ready, guard).before is False


def test_rows_that_only_the_backup_has_are_counted(ready: Place, guard: Guard, vectors: Embeddings) -> None:
    run_swap(ready, guard)
    ready.fill("notes-before-vecveil", unit_vectors(2, seed=4), first=50)
    with ready.opened() as store:
        assert find_backup(store, guard) == Backup(name="notes-before-vecveil", rows=len(vectors) + 2, alone=2)


def test_a_folder_is_named_by_its_path_and_not_by_an_address() -> None:
    assert to_folder("some/where", "chroma") == Path("some/where")
    with pytest.raises(InvalidInputError, match="chroma takes folders only") as refused:
        to_folder("https://user:secret@host/x", "chroma")
    assert "secret" not in str(refused.value)


def test_what_a_library_says_is_hidden_and_what_we_say_is_not() -> None:
    hidden = pytest.raises(ArtifactError, match=r"^the store could not read it \(ValueError\)$")
    with hidden as refused, trying("read it"):
        raise ValueError("row 7 says: she has a cold")
    assert refused.value.__suppress_context__
    with pytest.raises(InvalidInputError, match="as it is"), trying("read it"):
        raise InvalidInputError("as it is")


def test_a_folder_is_removed_with_all_that_is_in_it_if_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("x")
    for _ in range(2):
        remove_folder(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []
