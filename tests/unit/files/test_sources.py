from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.veils import PRIVATE_WORD
from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError, VecveilError
from vecveil.files import open_source

TABLE = pa.table({"id": ["007", "008", "009"], "text": ["Zoë", "a\nb", '"q", 🩺'], "rank": pa.array([1, None, 3])})


def _written(path: Path) -> Path:
    texts = ["Zoë", '"a\nb"', '"""q"", 🩺"']
    if path.suffix == ".parquet":
        pq.write_table(TABLE, path)
    elif path.suffix in {".arrow", ".feather"}:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif path.suffix in {".jsonl", ".ndjson"}:
        rows = ('{"id": "007", "text": "Zoë", "rank": 1}', '{"id": "008", "text": "a\\nb"}')
        path.write_text("\n".join([*rows, '{"id": "009", "text": "\\"q\\", 🩺", "rank": 3}', ""]), encoding="utf-8")
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        lines = [mark.join(fields) for fields in zip(["007", "008", "009"], texts, ["1", "", "3"], strict=True)]
        path.write_text("\n".join([mark.join(["id", "text", "rank"]), *lines]), encoding="utf-8")
    return path


def _rows(path: Path, size: int = 2) -> list[dict[str, Any]]:
    return [row for batch in open_source(path).batches(size) for row in batch.to_pylist()]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "jsonl", "ndjson", "csv", "tsv"])
def test_every_kind_of_table_gives_the_same_ids_and_texts(tmp_path: Path, ending: str) -> None:
    path = _written(tmp_path / f"table.{ending}")
    assert open_source(path).rows == 3
    assert [(row["id"], row["text"]) for row in _rows(path)] == [("007", "Zoë"), ("008", "a\nb"), ("009", '"q", 🩺')]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "csv", "txt"])
def test_batches_have_the_schema_and_at_most_the_size_asked_for(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table.{ending}"
    if ending == "txt":
        path.write_text("a\nb\nc\n")
    else:
        _written(path)
    source = open_source(path)
    batches = list(source.batches(2))
    assert [batch.num_rows for batch in batches] == [2, 1]
    assert all(batch.schema.equals(source.schema) for batch in batches)


def test_the_ending_is_read_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "TABLE.CSV").write_text("text\na\n")
    assert _rows(tmp_path / "TABLE.CSV") == [{"text": "a"}]


def test_an_unknown_ending_is_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(UnknownNameError, match=r"'\.json'; did you mean '\.jsonl'"):
        open_source(tmp_path / "notes.json")


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no file .*gone\.csv"):
        open_source(tmp_path / "gone.csv")
    with pytest.raises(InvalidInputError, match="must be a file, got a folder"):
        open_source(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "npy"])
@pytest.mark.parametrize("content", [b"", b"something else entirely", b"PAR1 and no more PAR1", b"ARROW1\0\0ARROW1"])
def test_a_file_that_is_not_what_its_ending_says_is_refused(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"broken.{ending}"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=rf"broken\.{ending} cannot be read as {ending}"):
        open_source(path)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([PRIVATE_WORD]), pa.array([PRIVATE_WORD])], names=["text", "text"])
    with pa.OSFile(str(tmp_path / "twice.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(VecveilError, match="two columns of the same name"):
        open_source(tmp_path / "twice.arrow")
