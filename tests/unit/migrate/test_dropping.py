from __future__ import annotations

from dataclasses import replace

import pytest
from support.stores import Place
from support.veils import unit_vectors

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import Backup, Swap, drop_backup, find_backup, migrate, swap
from vecveil.veil import Guard

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
        assert swap(store, guard) == Swap(rows=len(vectors), backup=None, before=True)
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


@pytest.mark.parametrize("place", ["chroma", "lancedb"], indirect=True)
def test_rows_that_only_the_backup_has_are_counted(swapped: Place, guard: Guard, vectors: Embeddings) -> None:
    swapped.fill(NAME, unit_vectors(2, seed=4), first=50)
    with swapped.opened() as store:
        assert find_backup(store, guard) == Backup(name=NAME, rows=len(vectors) + 2, alone=2)
