from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from support.guards import secret_of
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import Batch
from vecveil.migrate.protection import mark_guard
from vecveil.migrate.store import format_mark, parse_mark, require_same_mark, stack_vectors
from vecveil.veil import Guard


def test_a_batch_without_some_rows_keeps_the_order_of_the_others() -> None:
    vectors = unit_vectors(4)
    batch = Batch(ids=["a", 1, "c", 3], vectors=vectors, payload=[{"n": row} for row in range(4)])
    rest = batch.without({"a", "c", "1"})
    assert (list(rest.ids), list(rest.payload), len(rest)) == ([1, 3], [{"n": 1}, {"n": 3}], 2)
    assert np.array_equal(rest.vectors, vectors[[1, 3]])
    assert len(batch.without({*batch.ids})) == 0


def test_a_batch_has_one_vector_and_one_payload_for_each_id() -> None:
    with pytest.raises(InvalidInputError, match="got 3 and 2 for 2"):
        Batch(ids=["a", "b"], vectors=unit_vectors(3), payload=[{}, {}])


def test_vectors_become_one_array_of_single_precision() -> None:
    stacked = stack_vectors([[1.0, 2.0], np.array([3, 4])], first_row=0)
    assert (stacked.dtype, stacked.tolist()) == (np.float32, [[1, 2], [3, 4]])


def test_a_row_without_a_vector_is_named_and_vectors_of_two_lengths_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="row 101 has no vector"):
        stack_vectors([[1.0], None], first_row=100)
    with pytest.raises(InvalidInputError, match="different numbers of dimensions"):
        stack_vectors([[1.0], [1.0, 2.0]], first_row=0)


def made(guard: Guard, **changes: Any) -> dict[str, Any]:
    chosen = {"keep_texts": False, "left_out": [("a", "b")], "columns": {"vector_column": "v"}, "seals": None}
    return {**mark_guard(guard, None), **chosen, **changes}


def test_a_mark_is_read_as_it_was_written_and_holds_no_key(guard: Guard) -> None:
    mark = made(guard)
    assert parse_mark(format_mark(mark), "notes") == json.loads(json.dumps(mark))
    assert mark["columns"] == {"vector_column": "v"}
    assert mark["normalized"] is True
    assert secret_of(guard) not in format_mark(mark)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"columns": {"vector_column": "w"}}, "another choice of columns"),
        ({"keep_texts": True}, "another choice about texts"),
        ({"seals": {"key": "0123abcd", "numbers": "float16"}}, "another choice about seals, or key of them"),
        ({"left_out": [("a", "b"), ("c",)]}, "before these fields read like texts or vectors: c;"),
        ({"left_out": [("a",)]}, "fields read like texts or vectors: a;"),
    ],
)
def test_what_differs_is_named(guard: Guard, changes: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        require_same_mark(made(guard), made(guard, **changes), "notes-vecveil")


def test_fewer_fields_than_were_left_out_are_no_matter(guard: Guard) -> None:
    require_same_mark(made(guard, left_out=[("a",)]), made(guard, left_out=[("a", "b")]), "notes-vecveil")
    with pytest.raises(InvalidInputError, match="another choice about texts; look elsewhere"):
        require_same_mark(made(guard), made(guard, keep_texts=True), "notes", advice="look elsewhere")


@pytest.mark.parametrize("text", [None, "", "a comment", "[1]", '{"owner": "us"}'])
def test_what_someone_else_wrote_is_no_mark(text: str | None) -> None:
    assert parse_mark(text, "notes") is None


@pytest.mark.parametrize("text", ['{"vecveil": 3}', '{"vecveil": {}}', '{"vecveil": {"left_out": []}}'])
def test_a_damaged_mark_is_said(text: str) -> None:
    with pytest.raises(ArtifactError, match="the mark of notes is damaged"):
        parse_mark(text, "notes")
