from __future__ import annotations

from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest
from support.stores import LancePlace
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.migrate import migrate
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> LancePlace:
    (tmp_path / "store").mkdir()
    return LancePlace(where=f"lancedb:{tmp_path / 'store'}")


def table(place: LancePlace, **columns: Any) -> None:
    kind = pa.list_(pa.float32(), 8)
    made = {
        name: pa.array(list(unit_vectors(3)), kind) if values is None else values for name, values in columns.items()
    }
    lancedb.connect(str(place.folder)).create_table("notes", pa.table(made))


def test_ids_must_tell_rows_apart(place: LancePlace, guard: Guard) -> None:
    table(place, id=[1, 2, 2], other=[4, 5, 6], vector=None)
    with place.opened() as store, pytest.raises(InvalidInputError, match="3 rows and 2 different ids in 'id'"):
        migrate(store, guard)
    with place.opened(id_column="other") as store:
        assert migrate(store, guard).rows == 3
    with place.opened(id_column="others") as store, pytest.raises(UnknownNameError, match="did you mean 'other'"):
        migrate(store, guard)


def test_every_row_must_have_an_id(place: LancePlace, guard: Guard) -> None:
    table(place, id=[1, None, 2], vector=None)
    with place.opened() as store, pytest.raises(InvalidInputError, match="1 rows of notes have no id"):
        migrate(store, guard)


def test_of_several_columns_of_vectors_one_is_named_and_the_others_are_emptied(place: LancePlace, guard: Guard) -> None:
    table(place, id=[1, 2, 3], body=None, title=None)
    with place.opened() as store, pytest.raises(InvalidInputError, match="2 columns of vectors; name one"):
        migrate(store, guard)
    with place.opened(vector_column="body") as store:
        assert migrate(store, guard).left_out == ("title",)
    rows = lancedb.connect(str(place.folder)).open_table("notes-vecveil").to_arrow()
    assert rows.schema.names == ["id", "body", "title"]
    assert rows.column("title").null_count == 3
    assert rows.column("body").null_count == 0
