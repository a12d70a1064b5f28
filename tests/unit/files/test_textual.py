from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.veils import PRIVATE_WORD
from vecveil.core.errors import ArtifactError
from vecveil.files import open_source
from vecveil.files.textual import PIECE


def _rows(path: Path, content: str | bytes) -> list[dict[str, Any]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [row for batch in open_source(path).batches(2) for row in batch.to_pylist()]


def _json_lines(*rows: object) -> str:
    return "\n".join(map(json.dumps, rows))


def test_later_rows_may_have_more_keys(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "a.jsonl", _json_lines({"text": "x"}, {"text": "y"}, {"id": 7, "text": "z"}))
    assert rows[0] == {"text": "x", "id": None}
    assert rows[2] == {"text": "z", "id": 7}


def test_keys_that_first_come_after_thousands_of_rows_are_not_lost(tmp_path: Path) -> None:
    rows = [{"text": "x", "note": None}] * PIECE + [{"text": "y", "note": "found", "marks": [{"start": 1}]}]
    last = _rows(tmp_path / "a.jsonl", _json_lines(*rows))[-1]
    assert last == {"text": "y", "note": "found", "marks": [{"start": 1}]}


def test_numbers_may_be_whole_first_and_broken_later(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "a.jsonl", _json_lines(*[{"n": 1}] * PIECE, {"n": 1.5}))
    assert [rows[0]["n"], rows[-1]["n"]] == [1.0, 1.5]


@pytest.mark.parametrize(
    "rows",
    [
        [{"text": 1}, {"text": PRIVATE_WORD}],
        [{"text": PRIVATE_WORD}, {"text": 1}],
        [{"text": PRIVATE_WORD}, {"text": [PRIVATE_WORD]}],
        [{"text": "x", "n": True}, {"text": "y", "n": PRIVATE_WORD}],
        [{"n": 1}] * PIECE + [{"n": PRIVATE_WORD}],
    ],
)
def test_values_of_two_kinds_are_refused_without_being_shown(tmp_path: Path, rows: list[Any]) -> None:
    with pytest.raises(ArtifactError, match=r"a\.jsonl.*(text|n)") as refused:
        _rows(tmp_path / "a.jsonl", _json_lines(*rows))
    assert PRIVATE_WORD not in str(refused.value)


@pytest.mark.parametrize("number", [2**64, -(2**64), 2**70])
def test_a_whole_number_too_large_for_a_column_is_refused_without_being_shown(tmp_path: Path, number: int) -> None:
    with pytest.raises(ArtifactError, match="id") as refused:
        _rows(tmp_path / "a.jsonl", _json_lines({"text": "x", "id": number}))
    assert str(number) not in str(refused.value)


def test_a_large_id_beside_broken_numbers_is_refused_without_being_shown(tmp_path: Path) -> None:
    number = 2**60 + 1
    with pytest.raises(ArtifactError) as refused:
        _rows(tmp_path / "a.jsonl", _json_lines(*[{"n": number}] * PIECE, {"n": 1.5}))
    assert str(number) not in str(refused.value)


def test_a_line_that_is_no_json_is_named_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="line 3 is not JSON") as refused:
        _rows(tmp_path / "a.jsonl", f'{{"text": "x"}}\n\n{PRIVATE_WORD}\n')
    assert PRIVATE_WORD not in str(refused.value)


@pytest.mark.parametrize("line", ['["x"]', '"x"', "3", "null"])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(ArtifactError, match="line 2 must be a JSON object"):
        _rows(tmp_path / "a.jsonl", f'{{"text": "x"}}\n{line}\n')


def test_a_line_nested_too_deep_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="line 2"):
        _rows(tmp_path / "a.jsonl", '{"text": "x"}\n' + "[" * 100_000)


def test_half_a_surrogate_pair_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"line 2|row 1"):
        _rows(tmp_path / "a.jsonl", '{"text": "x"}\n{"text": "a\\ud800"}\n')


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt"])
def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path, name: str) -> None:
    body = '{"text": "Zoë"}' if name == "a.jsonl" else "Zoë" if name == "a.txt" else "text\nZoë"
    rows = _rows(tmp_path / name, b"\xef\xbb\xbf" + body.encode())
    assert rows[0]["text"] == "Zoë"


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_what_is_not_utf_8_is_refused_with_its_line(tmp_path: Path, name: str) -> None:
    good, bad = ('{"text": "x"}\n', '{"text": "é"}\n') if name == "a.jsonl" else ("x\n", "é\n")
    with pytest.raises(ArtifactError, match=r"line (40|41)\b") as refused:
        _rows(tmp_path / name, (good * 40 + bad).encode("latin-1"))
    assert "UTF-8" in str(refused.value) or "utf-8" in str(refused.value)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.txt"])
def test_utf_16_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArtifactError, match=r"(?i)utf-8"):
        _rows(tmp_path / name, '{"text": "x"}\n'.encode("utf-16"))


def test_csv_fields_stay_as_they_are_written(tmp_path: Path) -> None:
    content = 'id,text,when\r\n007,"a, ""b""\nc",2024-01-02\r\n1e5, padded ,\r\n'
    assert _rows(tmp_path / "a.csv", content) == [
        {"id": "007", "text": 'a, "b"\nc', "when": "2024-01-02"},
        {"id": "1e5", "text": " padded ", "when": ""},
    ]


def test_a_csv_field_may_be_as_long_as_a_report(tmp_path: Path) -> None:
    assert len(_rows(tmp_path / "a.csv", f"id,text\n1,{'word ' * 60_000}\n")[0]["text"]) == 300_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "no header line"),
        ("\n\n", "no header line"),
        ("id,id\n1,2\n", "two columns of the same name"),
        (f"id,text\n1,{PRIVATE_WORD},3\n", "line 2 has 3 fields, the header has 2"),
        (f"id,text\n1,x\n{PRIVATE_WORD}\n", "line 3 has 1 fields, the header has 2"),
        (f'id,text\n1,"{PRIVATE_WORD}\n', "line 2"),
        (f'id,text\n1,"x"{PRIVATE_WORD}\n', "line 2"),
    ],
)
def test_a_crooked_csv_file_is_refused_by_line(tmp_path: Path, content: str, reason: str) -> None:
    with pytest.raises(ArtifactError, match=reason) as refused:
        _rows(tmp_path / "a.csv", content)
    assert PRIVATE_WORD not in str(refused.value)


def test_quotes_inside_a_field_of_a_tsv_file_are_just_quotes(tmp_path: Path) -> None:
    assert _rows(tmp_path / "a.tsv", 'id\ttext\n007\t5" needle\n') == [{"id": "007", "text": '5" needle'}]


def test_blank_lines_are_left_out_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "a.txt", "one\n\n  \nfour\r\nfi\x0bve\u2028still\n")
    assert rows == [
        {"line": 1, "text": "one"},
        {"line": 4, "text": "four"},
        {"line": 5, "text": "fi\x0bve\u2028still"},
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_an_empty_file_has_no_rows(tmp_path: Path, name: str) -> None:
    assert _rows(tmp_path / name, "") == []


def test_a_csv_file_may_be_separated_by_semicolons(tmp_path: Path) -> None:
    assert _rows(tmp_path / "a.csv", "id;text\n1;one, two\n") == [{"id": "1", "text": "one, two"}]
