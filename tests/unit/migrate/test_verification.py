from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.stores import LancePlace, Place
from support.veils import unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import migrate, swap
from vecveil.migrate.verification import require_collection, require_complete, require_swappable
from vecveil.veil import Guard


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
