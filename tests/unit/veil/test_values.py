from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from vecveil.migrate.fields import TextFinder
from vecveil.veil.columns import ColumnPlan
from vecveil.veil.values import holds_names, holds_numbers, is_annotation, is_weights, join_strings, reads_like_text

LONG = "a note of more than four words"


def test_all_strings_of_a_value_are_read_as_one() -> None:
    assert join_strings("a") == "a"
    assert join_strings([{"b": ["c", 1, None], "d": "e"}, "f"]) == "c e f"
    assert join_strings(b"ab") == join_strings(memoryview(b"ab")) == "ab"
    assert join_strings(3) == join_strings(None) == ""


@pytest.mark.parametrize(("values", "long", "text"), [(0, 0, False), (2, 1, True), (3, 1, False), (3, 2, True)])
def test_a_field_is_a_text_where_half_of_its_values_are_long(values: int, long: int, text: bool) -> None:
    assert reads_like_text(values, long) == text


@pytest.mark.parametrize("values", [[LONG, "a"], [LONG, "a", "b"], ["a"], [LONG], ["a" * 65, "b"]], ids=str)
def test_files_and_stores_judge_alike(values: list[str]) -> None:
    finder = TextFinder()
    finder.add([{"note": value} for value in values])
    table = pa.table({"v": pa.array([[0.5]] * len(values)), "note": values})
    plan = ColumnPlan.for_schema(table.schema, vectors="v", sample=table)
    assert (("note",) in finder.find_texts()) == ("note" in plan.dropped)


@pytest.mark.parametrize(
    "value",
    [
        [0.5, 0.25],
        [[1, 2]],
        (Decimal("0.5"), Decimal("0.25")),
        np.ones(3),
        [{"vec": [0.1, 0.2]}],
        [{"token": "hiv", "weight": 0.8}],
        {"hiv": 0.8, "aids": 0.1},
        {"a": {"b": [1]}},
        b"\x00" * 65,
        "[" + "0.25, " * 20 + "1e-3]",
    ],
    ids=str,
)
def test_vectors_are_known_in_any_wrapping(value: Any) -> None:
    assert holds_numbers(value)


@pytest.mark.parametrize(
    "value", [3, 0.5, "3", ["a"], {"page": 3}, {"a": True, "b": False}, {"a": 1, "b": "x"}, [{"a": True}], b"id", LONG]
)
def test_labels_and_single_numbers_are_no_vectors(value: Any) -> None:
    assert not holds_numbers(value)


def test_annotations_and_names_are_found_however_deep() -> None:
    span = {"start": 1, "end": 4, "label": "NAME"}
    assert is_annotation(span)
    assert not is_weights(span)
    assert holds_names([{"a": [span]}], set())
    assert holds_names([{"a": {"Text": "hm"}}], {"text"})
    assert not holds_names([{"a": {"tag": "hm"}}], {"text"})
