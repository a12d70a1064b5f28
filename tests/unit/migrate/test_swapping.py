from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.stores import ChromaPlace, Place, failing
from support.veils import unit_vectors

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import Swap, migrate, swap
from vecveil.veil import Guard


def swapped(place: Place, guard: Guard) -> Swap:
    with place.opened() as store:
        return swap(store, guard)


def test_the_shadow_takes_the_name_and_the_clean_rows_stay_under_another(
    ready: Place, guard: Guard, vectors: Embeddings
) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    assert swapped(ready, guard) == Swap(rows=len(vectors), backup="notes-before-vecveil", before=False)
    assert ready.rows("notes") == shadow
    assert ready.rows("notes-before-vecveil") == clean
    assert swapped(ready, guard) == Swap(rows=len(vectors), backup="notes-before-vecveil", before=True)
    assert ready.rows("notes") == shadow
    with ready.opened() as store, pytest.raises(InvalidInputError, match="holds protected vectors already"):
        migrate(store, guard)


def test_without_a_shadow_there_is_nothing_to_swap(filled: Place, guard: Guard) -> None:
    before = filled.rows("notes")
    with pytest.raises(InvalidInputError, match="there is no notes-vecveil"):
        swapped(filled, guard)
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
        swapped(filled, guard)
    assert filled.rows("notes") == before


def test_a_source_that_has_grown_since_is_not_swapped(ready: Place, guard: Guard) -> None:
    ready.fill("notes", unit_vectors(2, seed=9), first=50)
    before = ready.rows("notes")
    with pytest.raises(InvalidInputError, match="23 rows and notes 25"):
        swapped(ready, guard)
    assert ready.rows("notes") == before


def test_an_existing_backup_is_not_overwritten(ready: Place, guard: Guard) -> None:
    ready.fill("notes-before-vecveil", unit_vectors(2))
    before = (ready.rows("notes"), ready.rows("notes-before-vecveil"))
    with pytest.raises(InvalidInputError, match="there is a notes-before-vecveil already"):
        swapped(ready, guard)
    assert (ready.rows("notes"), ready.rows("notes-before-vecveil")) == before


def test_an_existing_backup_is_refused_before_anything_is_paid(filled: Place, guard: Guard) -> None:
    filled.fill("notes-before-vecveil", unit_vectors(2))
    with filled.opened() as store, pytest.raises(InvalidInputError, match="before-vecveil already, with 2 rows"):
        migrate(store, guard)
    assert filled.rows("notes-vecveil") is None
    assert not Path(str(guard.ledger)).exists()


def test_what_was_swapped_with_something_else_is_said(ready: Place, guard: Guard) -> None:
    swapped(ready, guard)
    with pytest.raises(InvalidInputError, match=r"begun with another budget.*; name what it was swapped with"):
        swapped(ready, replace(guard, epsilon=3.0))


def test_a_shadow_of_another_veil_is_not_swapped(ready: Place, guard: Guard) -> None:
    with pytest.raises(InvalidInputError, match="begun with another budget"):
        swapped(ready, replace(guard, epsilon=3.0))


def test_a_missing_collection_is_named(place: Place, guard: Guard) -> None:
    place.fill("letters", unit_vectors(2))
    with pytest.raises(InvalidInputError, match=r"no collection 'notes'.*letters"):
        swapped(place, guard)


@pytest.mark.parametrize("place", ["chroma", "lancedb"], indirect=True)
def test_a_swap_can_be_undone_by_changing_the_names_back(ready: Place, guard: Guard) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    swapped(ready, guard)
    for old, new in (("notes", "notes-vecveil"), ("notes-before-vecveil", "notes")):
        if isinstance(ready, ChromaPlace):
            ready.client.get_collection(old, embedding_function=None).modify(name=new)
        else:
            folder = Path(ready.where.partition(":")[2])
            (folder / f"{old}.lance").rename(folder / f"{new}.lance")
    assert (ready.rows("notes"), ready.rows("notes-vecveil")) == (clean, shadow)
    with ready.opened() as store:
        assert migrate(store, guard).resumed == 23
    assert swapped(ready, guard).before is False
