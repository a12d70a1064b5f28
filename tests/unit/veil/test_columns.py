from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.veil.columns import ColumnPlan

FLOATS = pa.list_(pa.float32(), 4)
SPANS = pa.list_(pa.struct({"start": pa.int64(), "end": pa.int64(), "label": pa.string()}))


def _plan(columns: dict[str, Any], **options: Any) -> ColumnPlan:
    return ColumnPlan.for_schema(pa.schema(columns), **options)


def test_the_text_column_is_found_and_left_out() -> None:
    plan = _plan({"id": pa.int64(), "text": pa.string(), "ward": pa.string()})
    assert (plan.column, plan.is_text, plan.output_column) == ("text", True, "vector")
    assert (plan.carried, plan.dropped) == (("id", "ward"), ("text",))


def test_the_only_vector_column_is_found_and_replaced() -> None:
    plan = _plan({"id": pa.int64(), "embedding": FLOATS})
    assert (plan.column, plan.is_text, plan.output_column) == ("embedding", False, "embedding")
    assert (plan.carried, plan.dropped) == (("id",), ())


def test_a_table_with_texts_and_vectors_asks_which_is_meant() -> None:
    columns = {"text": pa.string(), "a": FLOATS}
    with pytest.raises(InvalidInputError, match=r"name the text column or the vector column.*these hold vectors: a"):
        _plan(columns)
    assert _plan(columns, text="text").dropped == ("text", "a")


def test_the_text_beside_protected_vectors_is_left_out() -> None:
    plan = _plan({"id": pa.int64(), "text": pa.string(), "v": FLOATS}, vectors="v")
    assert plan.carried == ("id",)
    assert plan.dropped == ("text",)


def test_annotations_and_other_clean_vectors_are_left_out_unless_kept() -> None:
    columns = {"id": pa.int64(), "text": pa.string(), "clean": FLOATS, "entities": SPANS}
    assert _plan(columns, text="text").carried == ("id",)
    assert _plan(columns, text="text", keep=("entities",)).carried == ("id", "entities")
    assert _plan(columns, text="text", keep=("text", "clean")).carried == ("id", "text", "clean")


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.list_(pa.float32())),
        pa.struct({"dense": pa.list_(pa.float32())}),
        pa.map_(pa.string(), pa.list_(pa.float32())),
        pa.fixed_shape_tensor(pa.float32(), [4]),
        pa.list_view(pa.float32()),
        pa.list_(pa.int8(), 4),
        pa.list_(pa.uint8(), 4),
    ],
    ids=str,
)
def test_clean_vectors_in_any_wrapping_are_left_out(kind: Any) -> None:
    assert _plan({"id": pa.int64(), "text": pa.string(), "clean": kind}).carried == ("id",)


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_list(SPANS.value_type),
        pa.list_(SPANS.value_type, 2),
        pa.struct({name: pa.list_(pa.int64()) for name in ("start", "end", "label")}),
    ],
    ids=str,
)
def test_annotations_in_any_layout_are_left_out(kind: Any) -> None:
    assert _plan({"id": pa.int64(), "text": pa.string(), "entities": kind}).carried == ("id",)


def test_nothing_but_vectors_goes_where_only_vectors_fit() -> None:
    plan = _plan({"id": pa.int64(), "embedding": FLOATS}, vectors_only=True)
    assert (plan.output_column, plan.carried, plan.dropped) == ("vector", (), ("id",))


@pytest.mark.parametrize("option", [{"text": "txt"}, {"vectors": "txt"}, {"keep": ("txt",)}])
def test_a_misspelled_column_is_guessed_at(option: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError, match="unknown column 'txt'; did you mean 'text'"):
        _plan({"id": pa.int64(), "text": pa.string()}, **option)


def test_a_table_with_neither_is_refused_with_its_columns() -> None:
    with pytest.raises(InvalidInputError, match="the columns are id, note"):
        _plan({"id": pa.int64(), "note": pa.string()})


def test_both_columns_cannot_be_protected_at_once() -> None:
    with pytest.raises(InvalidInputError, match="got both 'text' and 'v'"):
        _plan({"text": pa.string(), "v": FLOATS}, text="text", vectors="v")


def test_clean_vectors_cannot_be_kept_in_the_place_of_the_protected_ones() -> None:
    with pytest.raises(InvalidInputError, match="can't be kept"):
        _plan({"v": FLOATS}, vectors="v", keep=("v",))
    with pytest.raises(InvalidInputError, match="has a column 'vector'"):
        _plan({"text": pa.string(), "vector": pa.string()})
    with pytest.raises(InvalidInputError, match="has a column 'vector'"):
        _plan({"text": pa.string(), "vector": FLOATS}, text="text", keep=("vector",))


def test_a_text_column_that_holds_no_text_is_refused_with_its_type() -> None:
    with pytest.raises(InvalidInputError, match=r"'id'.*int64"):
        _plan({"id": pa.int64(), "text": pa.string()}, text="id")


@pytest.mark.parametrize("given", [pa.float16(), pa.float32(), pa.float64()])
@pytest.mark.parametrize(
    ("kind", "expected"), [("float16", pa.float16()), ("float32", pa.float32()), ("int8", pa.int8())]
)
def test_vectors_are_written_in_the_type_of_their_grid(given: pa.DataType, kind: str, expected: pa.DataType) -> None:
    schema = pa.schema({"v": pa.list_(given)})
    plan = ColumnPlan.for_schema(schema)
    assert plan.output_schema(schema, 4, kind).field("v").type == pa.list_(expected, 4)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.int64(), pa.uint8()])
def test_ids_are_text_or_whole_numbers(kind: pa.DataType) -> None:
    schema = pa.schema({"v": pa.list_(pa.float32()), "number": kind})
    assert ColumnPlan.for_schema(schema, ids="number", vectors_only=True).ids == "number"


@pytest.mark.parametrize("kind", [pa.float64(), pa.bool_(), pa.list_(pa.int8()), pa.date32()])
def test_anything_else_is_no_id(kind: pa.DataType) -> None:
    schema = pa.schema({"v": pa.list_(pa.float32()), "number": kind})
    with pytest.raises(InvalidInputError, match="'number' must hold text or whole numbers, got"):
        ColumnPlan.for_schema(schema, vectors="v", ids="number", vectors_only=True)


def test_an_id_column_that_is_not_there_is_guessed_at() -> None:
    schema = pa.schema({"v": pa.list_(pa.float32()), "number": pa.int64()})
    with pytest.raises(UnknownNameError, match="did you mean 'number'"):
        ColumnPlan.for_schema(schema, vectors="v", ids="numbr", vectors_only=True)


def test_seals_stand_behind_the_protected_vectors_and_need_ids_and_a_place() -> None:
    columns = {"id": pa.int64(), "text": pa.string()}
    plan = _plan(columns, ids="id", seals=True)
    assert plan.output_schema(pa.schema(columns), 4, "float32").names == ["id", "vector", "seal"]
    assert plan.output_schema(pa.schema(columns), 4, "float32").field("seal").type == pa.binary()
    assert "seal" not in _plan(columns, ids="id").output_schema(pa.schema(columns), 4, "float32").names
    with pytest.raises(InvalidInputError, match="for its record alone: name the column"):
        _plan(columns, seals=True)
    with pytest.raises(InvalidInputError, match="npy file has no place for seals"):
        _plan(columns, ids="id", seals=True, vectors_only=True)
    with pytest.raises(InvalidInputError, match="has a column 'seal', where the seals belong"):
        _plan({**columns, "seal": pa.binary()}, ids="id", seals=True)
