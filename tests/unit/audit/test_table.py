from __future__ import annotations

from pathlib import Path

import pytest

from vecveil.audit.table import Table
from vecveil.core.errors import InvalidInputError, UnknownNameError

PRIVATE = "zanzibarium"


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_read_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "id,text,score\n007,one,4.5\n008,two,1\n")
    table = Table.read(path, ["text"], optional=["id", "title"])
    assert table.names == ("id", "text", "score")
    assert table.columns == {"text": ["one", "two"], "id": ["007", "008"]}


def test_a_missing_column_is_named_beside_those_that_are_there(tmp_path: Path) -> None:
    path = written(tmp_path, "sentence_1,sentence2,score\na,b,1\n")
    with pytest.raises(
        UnknownNameError, match=r"table\.csv 'sentence1'; did you mean .*\(known: score, sentence2, sente"
    ):
        Table.read(path, ["sentence1"])


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"table\.csv has no rows"):
        Table.read(written(tmp_path, "text\n"), ["text"])


def test_rows_are_chosen_by_value_and_keep_their_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, "text,split\na,dev\nb,test\n,test\n")
    table = Table.read(path, ["text", "split"])
    assert table.where("split", "dev").texts("text") == ["a"]
    with pytest.raises(InvalidInputError, match="'text' must hold a text in every row, but not in row 2"):
        table.where("split", "test").texts("text")
    with pytest.raises(
        UnknownNameError, match=r"unknown split of .* 'tets'; did you mean 'test'\? \(known: dev, test\)"
    ):
        table.where("split", "tets")


def test_numbers_may_be_written_as_text(tmp_path: Path) -> None:
    table = Table.read(written(tmp_path, "score\n1\n2.5\n-3e-1\n"), ["score"])
    assert table.numbers("score") == [1.0, 2.5, -0.3]
    with pytest.raises(InvalidInputError, match="'score' must hold a whole number in every row, but not in row 1"):
        table.whole_numbers("score")


@pytest.mark.parametrize("value", [PRIVATE, "", "nan", "inf", "1,5"])
def test_what_is_no_number_is_not_shown(value: str, tmp_path: Path) -> None:
    table = Table.read(written(tmp_path, f'score\n1\n"{value}"\n2\n'), ["score"])
    with pytest.raises(
        InvalidInputError, match=r"table\.csv: 'score' must hold a number in every row, but not in row 1"
    ) as error:
        table.numbers("score")
    assert PRIVATE not in str(error.value)


def test_truth_values_are_neither_numbers_nor_ids(tmp_path: Path) -> None:
    table = Table.read(written(tmp_path, '{"score": true}\n', "table.jsonl"), ["score"])
    with pytest.raises(InvalidInputError, match="must hold a number"):
        table.numbers("score")
    with pytest.raises(InvalidInputError, match="must hold an id"):
        table.ids("score")


def test_ids_are_strings_and_unique_where_they_must_be(tmp_path: Path) -> None:
    table = Table.read(written(tmp_path, '{"id": 63}\n{"id": 7}\n{"id": 63}\n', "table.jsonl"), ["id"])
    assert table.ids("id") == ["63", "7", "63"]
    with pytest.raises(InvalidInputError, match=r"table\.jsonl: row 2 has the same 'id' as row 0"):
        table.own_ids("id")


def test_blank_texts_are_texts_where_that_is_allowed(tmp_path: Path) -> None:
    table = Table.read(written(tmp_path, '{"title": null}\n{"title": ""}\n{"title": "a"}\n', "table.jsonl"), ["title"])
    assert table.texts("title", blank=True) == ["", "", "a"]
    with pytest.raises(InvalidInputError, match="not in row 0"):
        table.texts("title")
