from __future__ import annotations

import dataclasses
import json
from typing import Any

import pyarrow as pa
import pytest

from vecveil.core.errors import EmbedderMismatchError, InvalidInputError
from vecveil.embedders import Fingerprint
from vecveil.embedders.embedder import check_texts

MINE = Fingerprint(model="m", revision="r", dimensions=8, normalized=True)


def test_equal_fingerprints_have_equal_digests() -> None:
    again = Fingerprint(**json.loads(json.dumps(MINE.settings())))
    assert again == MINE
    assert again.digest() == MINE.digest()
    MINE.require(again)


@pytest.mark.parametrize("change", [{"model": "n"}, {"revision": "s"}, {"dimensions": 9}, {"normalized": False}])
def test_a_different_field_is_another_model(change: dict[str, object]) -> None:
    other = Fingerprint(**{**MINE.settings(), **change})
    assert other.digest() != MINE.digest()
    with pytest.raises(EmbedderMismatchError, match=next(iter(change))):
        MINE.require(other)


def test_a_model_without_dimensions_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="dimensions"):
        dataclasses.replace(MINE, dimensions=0)


def test_texts_come_back_as_a_list() -> None:
    assert check_texts(("a", "", "é")) == ["a", "", "é"]


def test_one_string_is_not_a_list_of_texts() -> None:
    with pytest.raises(InvalidInputError, match="got one string"):
        check_texts("secret")


@pytest.mark.parametrize("wrong", [None, 3, b"bytes"])
def test_what_is_no_string_is_named_by_its_row(wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="row 1 must be a string"):
        check_texts(["a", wrong])


def test_half_a_surrogate_pair_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidInputError, match="row 2 holds half a surrogate pair") as caught:
        check_texts(["a", "b", "secret \ud800"])
    assert "secret" not in str(caught.value)


def test_a_column_is_taken_and_a_table_is_not() -> None:
    table = pa.table({"text": ["a", "b"]})
    column: Any = table["text"]
    assert check_texts(column) == ["a", "b"]
    with pytest.raises(InvalidInputError, match="one column"):
        check_texts(table)
