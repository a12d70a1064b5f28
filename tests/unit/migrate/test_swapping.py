from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromadb.api.models.Collection import Collection
from qdrant_client import QdrantClient

from support.stores import LancePlace, Place, failing
from support.veils import unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import Backup, SwapResult, drop_backup, migrate, swap
from vecveil.migrate.pgvector.database import Database
from vecveil.migrate.swapping import require_collection, require_complete, require_swappable
from vecveil.veil import Guard

STOPS: dict[str, list[tuple[Any, str, int]]] = {
    "chroma": [(Collection, "modify", 0), (Collection, "modify", 1)],
    "qdrant": [(shutil, "copytree", 0), (Path, "replace", 0), (QdrantClient, "update_collection_aliases", 0)],
    "lancedb": [(Path, "rename", 0), (Path, "rename", 1)],
    "faiss": [(Path, "replace", 0), (Path, "replace", 1), (Path, "unlink", 1)],
    "postgresql": [(Database, "rename", 0), (Database, "rename", 1)],
}
"""By store: what a swap calls, and how often that works before the program is stopped."""


def run_swap(place: Place, guard: Guard) -> SwapResult:
    with place.opened() as store:
        return swap(store, guard)


def test_the_shadow_takes_the_name_and_the_clean_rows_stay_under_another(
    ready: Place, guard: Guard, vectors: Embeddings
) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    assert run_swap(ready, guard) == SwapResult(rows=len(vectors), backup="notes-before-vecveil", before=False)
    assert ready.rows("notes") == shadow
    assert ready.rows("notes-before-vecveil") == clean
    assert run_swap(ready, guard) == SwapResult(rows=len(vectors), backup="notes-before-vecveil", before=True)
    assert ready.rows("notes") == shadow
    with ready.opened() as store, pytest.raises(InvalidInputError, match="holds protected vectors already"):
        migrate(store, guard)


def test_without_a_shadow_there_is_nothing_to_swap(filled: Place, guard: Guard) -> None:
    before = filled.rows("notes")
    with pytest.raises(InvalidInputError, match="there is no notes-vecveil"):
        run_swap(filled, guard)
    assert filled.rows("notes") == before


def test_a_shadow_that_is_not_complete_is_not_swapped(
    filled: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.rows("notes")
    with filled.opened() as store:
        monkeypatch.setattr(store, "append", failing(store.append, after=2))
        with pytest.raises(KeyboardInterrupt):
            migrate(store, guard, batch_rows=5)
    with pytest.raises(InvalidInputError, match="10 rows and notes 23: the shadow is not complete"):
        run_swap(filled, guard)
    assert filled.rows("notes") == before


def test_a_source_that_has_grown_since_is_not_swapped(ready: Place, guard: Guard) -> None:
    ready.fill("notes", unit_vectors(2, seed=9), first=50)
    before = ready.rows("notes")
    with pytest.raises(InvalidInputError, match="23 rows and notes 25"):
        run_swap(ready, guard)
    assert ready.rows("notes") == before


def test_an_existing_backup_is_not_overwritten(ready: Place, guard: Guard) -> None:
    ready.fill("notes-before-vecveil", unit_vectors(2))
    before = (ready.rows("notes"), ready.rows("notes-before-vecveil"))
    with pytest.raises(InvalidInputError, match="there is a notes-before-vecveil already"):
        run_swap(ready, guard)
    assert (ready.rows("notes"), ready.rows("notes-before-vecveil")) == before


def test_an_existing_backup_is_refused_before_anything_is_paid(filled: Place, guard: Guard) -> None:
    filled.fill("notes-before-vecveil", unit_vectors(2))
    with filled.opened() as store, pytest.raises(InvalidInputError, match="before-vecveil already, with 2 rows"):
        migrate(store, guard)
    assert filled.rows("notes-vecveil") is None
    assert not Path(str(guard.ledger)).exists()


def test_what_was_swapped_with_something_else_is_said(ready: Place, guard: Guard) -> None:
    run_swap(ready, guard)
    with pytest.raises(InvalidInputError, match=r"begun with another budget.*; name what it was swapped with"):
        run_swap(ready, replace(guard, epsilon=3.0))


def test_a_shadow_of_another_veil_is_not_swapped(ready: Place, guard: Guard) -> None:
    with pytest.raises(InvalidInputError, match="begun with another budget"):
        run_swap(ready, replace(guard, epsilon=3.0))


def test_a_missing_collection_is_named(place: Place, guard: Guard) -> None:
    place.fill("letters", unit_vectors(2))
    with pytest.raises(InvalidInputError, match=r"no collection 'notes'.*letters"):
        run_swap(place, guard)


def test_a_swap_that_was_stopped_anywhere_goes_on(ready: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    for owner, name, works in STOPS[ready.where.partition(":")[0]]:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, failing(getattr(owner, name), after=works))
            with ready.opened() as store, pytest.raises(KeyboardInterrupt):
                swap(store, guard)
        # Wherever it was stopped, the clean rows are whole somewhere.
        assert clean in (ready.rows("notes"), ready.rows("notes-before-vecveil"))
    run_swap(ready, guard)
    assert ready.rows("notes") == shadow
    assert ready.rows("notes-before-vecveil") == clean


NAME = "notes-before-vecveil"


@pytest.fixture
def swapped(filled: Place, guard: Guard) -> Place:
    """Each of the stores, swapped."""
    with filled.opened() as store:
        migrate(store, guard)
        swap(store, guard)
    return filled


def test_the_clean_rows_are_gone_and_the_others_are_as_they_were(
    swapped: Place, guard: Guard, vectors: Embeddings
) -> None:
    protected = swapped.rows("notes")
    with swapped.opened() as store:
        assert drop_backup(store, guard) == Backup(name=NAME, rows=len(vectors), alone=0)
    assert swapped.rows(NAME) is None
    assert swapped.rows("notes") == protected
    with swapped.opened() as store:
        assert swap(store, guard) == SwapResult(rows=len(vectors), backup=None, before=True)
        with pytest.raises(InvalidInputError, match=f"there is no {NAME} to drop"):
            drop_backup(store, guard)


def test_a_collection_that_was_not_swapped_keeps_its_backup(filled: Place, guard: Guard) -> None:
    filled.fill(NAME, unit_vectors(2))
    before = filled.rows(NAME)
    with filled.opened() as store, pytest.raises(InvalidInputError, match="notes was not swapped: it carries no mark"):
        drop_backup(store, guard)
    with filled.opened("letters") as store, pytest.raises(InvalidInputError, match="there is no letters"):
        drop_backup(store, guard)
    assert filled.rows(NAME) == before


def test_another_guard_drops_nothing(swapped: Place, guard: Guard) -> None:
    with swapped.opened() as store, pytest.raises(InvalidInputError, match="begun with another budget"):
        drop_backup(store, replace(guard, epsilon=3.0))
    assert swapped.rows(NAME) is not None


def test_a_row_that_got_another_vector_is_not_swapped_away(filled: Place, guard: Guard) -> None:
    with filled.opened() as store:
        migrate(store, guard, batch_rows=5)
    filled.revise("notes", 3, vector=unit_vectors(1, seed=77)[0])
    before = filled.rows("notes")
    for work in (swap, migrate):
        with filled.opened() as store, pytest.raises(InvalidInputError, match="changed since"):
            work(store, guard)
    assert filled.rows("notes") == before


def test_a_row_that_got_another_field_is_not_swapped_away_even_without_a_key(
    place_with_fields: Place, guard: Guard, vectors: Embeddings
) -> None:
    fresh = replace(guard, key=None)
    place_with_fields.fill("notes", vectors)
    with place_with_fields.opened() as store:
        migrate(store, fresh, batch_rows=5)
    place_with_fields.revise("notes", 3, topic="another")
    place_with_fields.revise("notes", 4, topic="another")
    with (
        place_with_fields.opened() as store,
        pytest.raises(InvalidInputError, match="2 rows of notes have changed since"),
    ):
        swap(store, fresh)


# FAISS tells by its file that something has changed.
def test_without_a_key_a_vector_that_changed_can_not_be_noticed(
    place_with_fields: Place, guard: Guard, vectors: Embeddings
) -> None:
    fresh = replace(guard, key=None)
    place_with_fields.fill("notes", vectors)
    with place_with_fields.opened() as store:
        migrate(store, fresh)
    place_with_fields.revise("notes", 3, vector=unit_vectors(1, seed=77)[0])
    with place_with_fields.opened() as store:
        assert swap(store, fresh).rows == 23


@pytest.fixture
def tables(tmp_path: Path) -> LancePlace:
    (tmp_path / "store").mkdir()
    found = LancePlace(where=f"lancedb:{tmp_path / 'store'}")
    found.fill("notes", unit_vectors(5))
    return found


@pytest.mark.parametrize(
    ("rows", "first", "said"),
    [
        (3, 0, "3 rows and notes 5: the shadow is not complete; migrate again"),
        (7, 0, "7 rows and notes only 5: rows of it were deleted since; delete notes-vecveil"),
        (5, 1, "as many rows, but not the same; delete notes-vecveil"),
    ],
)
def test_which_way_a_shadow_differs_is_said(tables: LancePlace, rows: int, first: int, said: str) -> None:
    tables.fill("notes-vecveil", unit_vectors(rows), first=first)
    with tables.opened() as store, pytest.raises(InvalidInputError, match=said):
        require_complete(store, "notes", batch_rows=2)


def test_the_same_rows_are_complete(tables: LancePlace) -> None:
    tables.fill("notes-vecveil", unit_vectors(5))
    with tables.opened() as store:
        assert require_complete(store, "notes", batch_rows=2) == require_collection(store) == 5


def test_a_backup_is_in_the_way_and_never_to_be_deleted(tables: LancePlace) -> None:
    tables.fill("notes-before-vecveil", unit_vectors(4))
    with (
        tables.opened() as store,
        pytest.raises(InvalidInputError, match="with 4 rows; they may be the only") as refused,
    ):
        require_swappable(store)
    assert "delete" not in str(refused.value)


def test_a_shadow_without_a_mark_is_no_sign_of_a_swap(tables: LancePlace) -> None:
    tables.fill("letters-before-vecveil", unit_vectors(4))
    tables.fill("letters-vecveil", unit_vectors(4))
    with tables.opened("letters") as store:
        assert not store.is_swap_stopped()
        with pytest.raises(InvalidInputError, match="there is no collection 'letters'"):
            require_collection(store)
