from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest
from lancedb.index import IvfFlat
from lancedb.table import LanceTable

from support.stores import LancePlace, failing, text_of
from support.veils import PRIVATE_WORD, unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError
from vecveil.migrate import drop_backup, migrate, swap
from vecveil.veil import Guard


@pytest.fixture
def place(tmp_path: Path) -> LancePlace:
    (tmp_path / "store").mkdir()
    return LancePlace(where=f"lancedb:{tmp_path / 'store'}")


def test_a_folder_that_is_no_table_yet_is_no_hindrance(place: LancePlace, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes-vecveil.lance" / "_versions").mkdir(parents=True)
    with place.opened() as store:
        assert store.list_names() == ["notes"]
        assert migrate(store, guard).rows == 3


def test_a_folder_in_the_place_of_the_backup_is_refused_before_anything_is_paid(
    place: LancePlace, guard: Guard
) -> None:
    place.fill("notes", unit_vectors(3))
    (place.folder / "notes-before-vecveil.lance").mkdir()
    with place.opened() as store, pytest.raises(InvalidInputError, match="is in the way, which is no table"):
        migrate(store, guard)
    assert place.rows("notes-vecveil") is None


def test_a_drop_that_was_stopped_can_be_repeated(
    place: LancePlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(3))
    with place.opened() as store:
        migrate(store, guard)
        swap(store, guard)
        with monkeypatch.context() as patch:
            patch.setattr("shutil.rmtree", failing(shutil.rmtree, after=1))
            with pytest.raises(KeyboardInterrupt):
                drop_backup(store, guard)
        assert (place.folder / "notes-before-vecveil.lance").exists()
        assert drop_backup(store, guard).rows == 0
    assert sorted(path.name for path in place.folder.iterdir()) == ["notes.lance"]


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
    with place.opened() as store, pytest.raises(InvalidInputError, match="have 2 vectors; name one"):
        migrate(store, guard)
    with place.opened(vector_column="body") as store:
        assert migrate(store, guard).left_out == ("title",)
    rows = lancedb.connect(str(place.folder)).open_table("notes-vecveil").to_arrow()
    assert rows.schema.names == ["id", "body", "title"]
    assert rows.column("title").null_count == 3
    assert rows.column("body").null_count == 0


@pytest.mark.parametrize("ids", [[b"a", b"b", b"c"], [0.5, 1.5, 2.5], [True, False, None]], ids=str)
def test_ids_are_text_or_whole_numbers(place: LancePlace, guard: Guard, ids: list[Any]) -> None:
    table(place, id=ids, vector=None)
    with (
        place.opened() as store,
        pytest.raises(InvalidInputError, match="'id' must hold text or whole numbers"),
    ):
        migrate(store, guard)
    assert place.rows("notes-vecveil") is None


def test_going_on_with_other_columns_is_refused(
    place: LancePlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(place, id=[1, 2, 3], body=None, title=None)
    with place.opened(vector_column="body") as store:
        monkeypatch.setattr(store, "append", failing(store.append, after=1))
        with pytest.raises(KeyboardInterrupt):
            migrate(store, guard, batch_rows=1)
    for work in (migrate, swap):
        with place.opened(vector_column="title") as store, pytest.raises(InvalidInputError, match="choice of columns"):
            work(store, guard)
    with place.opened(vector_column="body") as store:
        assert migrate(store, guard).resumed == 1


def test_texts_that_may_not_be_empty_are_emptied_inside_of_structs_too(place: LancePlace, guard: Guard) -> None:
    inner = pa.struct([pa.field("note", pa.string(), nullable=False), pa.field("page", pa.int64(), nullable=False)])
    more = pa.struct([pa.field("inner", inner, nullable=False)])
    rows = [{"inner": {"note": text_of(row), "page": row}} for row in range(3)]
    schema = pa.schema(
        [("id", pa.int64()), ("vector", pa.list_(pa.float32(), 8)), pa.field("more", more, nullable=False)]
    )
    made = pa.table({"id": [1, 2, 3], "vector": list(unit_vectors(3)), "more": rows}, schema=schema)
    lancedb.connect(str(place.folder)).create_table("notes", made)
    with place.opened() as store:
        done = migrate(store, guard)
        assert (done.left_out, done.carried) == (("more.inner.note",), ("more.inner.page",))
        assert swap(store, guard).rows == 3
    found = lancedb.connect(str(place.folder)).open_table("notes").to_arrow().column("more").to_pylist()
    assert found == [{"inner": {"note": None, "page": row}} for row in range(3)]


def test_a_search_goes_by_the_distance_of_the_index(place: LancePlace, guard: Guard) -> None:
    # By angle the first is nearest, by distance the second.
    vectors = np.eye(8, dtype=np.float32)[[0, 1, 2]] * np.array([[9.0], [0.1], [5.0]], dtype=np.float32)
    place.fill("notes", vectors)
    query = np.array([[1.0, 0.9, 0, 0, 0, 0, 0, 0]], dtype=np.float32)
    with place.opened() as store:
        assert store.search("notes", query, 1) == [["it's 1"]]
        notes = lancedb.connect(str(place.folder)).open_table("notes")
        notes.create_index("vector", config=IvfFlat(distance_type="cosine", num_partitions=1))
        assert store.search("notes", query, 1) == [["it's 0"]]
        place.fill("notes-vecveil", vectors)
        assert store.search("notes-vecveil", query, 1) == [["it's 0"]]


def test_what_the_library_says_is_not_repeated(
    place: LancePlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.fill("notes", unit_vectors(3))

    def broken(*arguments: object, **options: object) -> None:
        raise RuntimeError(PRIVATE_WORD)

    monkeypatch.setattr(LanceTable, "merge_insert", broken)
    with place.opened() as store:
        with pytest.raises(ArtifactError, match=r"could not write to notes-vecveil \(RuntimeError\)") as refused:
            migrate(store, guard)
        assert PRIVATE_WORD not in str(refused.value)
