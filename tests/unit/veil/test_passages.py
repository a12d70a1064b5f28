from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.veils import PRIVATE_WORD
from vecveil.concepts import Passage, Span
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.veil import read_passages


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    (folder / "notes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder / "notes.jsonl"


def test_texts_come_with_their_annotations(tmp_path: Path) -> None:
    path = _file(tmp_path, {"text": "ab cd", "entities": [{"start": 3, "end": 5, "label": "X"}]}, {"text": "ef"})
    assert read_passages(path) == [Passage("ab cd", (Span(3, 5, "X"),)), Passage("ef")]
    with pytest.raises(UnknownNameError, match="'entites'; did you mean 'entities'"):
        read_passages(path, annotations_column="entites")


def test_the_text_column_can_be_another(tmp_path: Path) -> None:
    path = _file(tmp_path, {"note": "ab"})
    assert read_passages(path, text_column="note") == [Passage("ab")]
    with pytest.raises(UnknownNameError, match="'nota'; did you mean 'note'"):
        read_passages(path, text_column="nota")


@pytest.mark.parametrize("text", [None, "", " \n\t"])
def test_a_row_without_text_is_refused_by_number(tmp_path: Path, text: str | None) -> None:
    rows = [{"text": PRIVATE_WORD}] * 5000
    with pytest.raises(InvalidInputError, match="row 4321 has no text") as refused:
        read_passages(_file(tmp_path, *rows[:4321], {"text": text}, *rows[4322:]))
    assert PRIVATE_WORD not in str(refused.value)


def test_a_column_of_numbers_is_no_column_of_texts(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"row 0 has no text|'id'.*int64"):
        read_passages(_file(tmp_path, {"id": 1, "text": "x"}), text_column="id")


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("text\n")
    with pytest.raises(InvalidInputError, match=r"notes\.csv has no rows"):
        read_passages(tmp_path / "notes.csv")


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"notes\.jsonl has no rows"):
        read_passages(_file(tmp_path))


@pytest.mark.parametrize(
    "annotation",
    [
        {"start": 0, "end": 99, "label": "X"},
        {"start": -1, "end": 2, "label": "X"},
        {"start": 2, "end": 2, "label": "X"},
        {"start": None, "end": 2, "label": "X"},
        {"start": PRIVATE_WORD, "end": 2, "label": "X"},
        {"start": 0, "end": 2},
        {"begin": 0, "end": 2, "label": "X"},
        PRIVATE_WORD,
        3,
    ],
)
def test_a_wrong_annotation_is_refused_by_row_and_not_shown(tmp_path: Path, annotation: Any) -> None:
    rows = {"text": "ab"}, {"text": "abcdef", "entities": [annotation]}
    with pytest.raises(InvalidInputError, match="row 1 has a wrong annotation") as refused:
        read_passages(_file(tmp_path, *rows))
    assert PRIVATE_WORD not in str(refused.value)


def test_rows_without_a_text_are_left_out_where_asked(tmp_path: Path) -> None:
    path = _file(tmp_path, {"text": "a"}, {"text": None}, {"text": " "}, {"text": "b"})
    assert read_passages(path, skip_empty=True) == [Passage("a"), Passage("b")]
    with pytest.raises(InvalidInputError, match=r"row 1 has no text; .*--skip-empty"):
        read_passages(path)
    with pytest.raises(InvalidInputError, match="has a text"):
        read_passages(_file(tmp_path, {"text": ""}), skip_empty=True)
