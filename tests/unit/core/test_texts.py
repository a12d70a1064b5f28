from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.core.texts import to_texts

TEXTS = ["one", "two", "three"]


def _generate() -> Iterator[str]:
    yield from TEXTS


@pytest.mark.parametrize(
    "column",
    [
        tuple(TEXTS),
        dict.fromkeys(TEXTS).keys(),
        _generate(),
        pa.array(TEXTS),
        pa.array(TEXTS, type=pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        pa.table({"text": TEXTS})["text"],
        pa.RecordBatch.from_pydict({"text": TEXTS}).column("text"),
    ],
    ids=lambda column: type(column).__name__,
)
def test_one_column_becomes_a_list_of_strings(column: Any) -> None:
    found = to_texts(column)
    assert found == TEXTS
    assert all(type(text) is str for text in found)


def test_pandas_columns_are_taken_and_frames_are_not() -> None:
    import pandas

    frame = pandas.DataFrame({"text": TEXTS})
    assert to_texts(frame["text"]) == to_texts(pandas.Index(TEXTS)) == TEXTS
    assert to_texts(pandas.Series(TEXTS, index=["columns", "column_names", "x"])) == TEXTS
    assert to_texts(frame["text"].to_numpy()) == TEXTS
    for table in (frame, pandas.DataFrame({"id": [1, 2, 3], "text": TEXTS})):
        with pytest.raises(InvalidInputError, match=r"got a whole table \(DataFrame\); hand in its column of texts"):
            to_texts(table)


def test_polars_columns_are_taken_and_frames_are_not() -> None:
    import polars

    frame = polars.DataFrame({"text": TEXTS})
    assert to_texts(frame["text"]) == TEXTS
    for table in (frame, frame.lazy()):
        with pytest.raises(InvalidInputError, match="one column"):
            to_texts(table)


def test_columns_of_hugging_face_data_sets_are_taken_and_data_sets_are_not() -> None:
    import datasets

    dataset = datasets.Dataset.from_dict({"text": TEXTS})
    assert to_texts(dataset["text"]) == TEXTS
    with pytest.raises(InvalidInputError, match="one column"):
        to_texts(dataset)


class _Frame:
    """Iterates over the names of its columns, as a data frame does."""

    columns = ("text",)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


@pytest.mark.parametrize(
    "table",
    [_Frame(), {"text": TEXTS}, pa.table({"text": TEXTS}), pa.RecordBatch.from_pydict({"text": TEXTS})],
    ids=lambda table: type(table).__name__,
)
def test_a_table_is_refused_whatever_number_of_columns_it_has(table: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"one column, got a whole table .*table\['text'\]") as caught:
        to_texts(table)
    assert "two" not in str(caught.value)


def test_one_string_is_not_a_list_of_texts() -> None:
    with pytest.raises(InvalidInputError, match="got one string; put it into a list") as caught:
        to_texts("secret")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("other", [None, 3, 2.5])
def test_what_cannot_be_iterated_over_is_refused_by_its_type(other: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"must be a list of texts, got {type(other).__name__}"):
        to_texts(other)
