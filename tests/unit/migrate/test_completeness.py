from __future__ import annotations

from pathlib import Path

import pytest
from support.stores import LancePlace
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.completeness import require_collection, require_complete, require_swappable, was_stopped_between


@pytest.fixture
def place(tmp_path: Path) -> LancePlace:
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
def test_which_way_a_shadow_differs_is_said(place: LancePlace, rows: int, first: int, said: str) -> None:
    place.fill("notes-vecveil", unit_vectors(rows), first=first)
    with place.opened() as store, pytest.raises(InvalidInputError, match=said):
        require_complete(store, "notes", "notes-vecveil", batch_rows=2)


def test_the_same_rows_are_complete(place: LancePlace) -> None:
    place.fill("notes-vecveil", unit_vectors(5))
    with place.opened() as store:
        assert require_complete(store, "notes", "notes-vecveil", batch_rows=2) == require_collection(store) == 5


def test_a_backup_is_in_the_way_and_never_to_be_deleted(place: LancePlace) -> None:
    place.fill("notes-before-vecveil", unit_vectors(4))
    with (
        place.opened() as store,
        pytest.raises(InvalidInputError, match="with 4 rows; they may be the only") as refused,
    ):
        require_swappable(store)
    assert "delete" not in str(refused.value)


def test_a_shadow_without_a_mark_is_no_sign_of_a_swap(place: LancePlace) -> None:
    place.fill("letters-before-vecveil", unit_vectors(4))
    place.fill("letters-vecveil", unit_vectors(4))
    with place.opened("letters") as store:
        assert not was_stopped_between(store, "letters-before-vecveil")
        with pytest.raises(InvalidInputError, match="there is no collection 'letters'"):
            require_collection(store)
