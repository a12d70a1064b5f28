from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.veils import PRIVATE_WORD, unit_vectors

from vecveil.artifacts import open_source
from vecveil.artifacts.vectors import column_of
from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError, VecveilError

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


def test_an_arrow_stream_is_read_like_an_arrow_file(tmp_path: Path) -> None:
    path = tmp_path / "stream.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert [row["id"] for row in _rows(path)] == ["007", "008", "009"]


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([PRIVATE_WORD]), pa.array([PRIVATE_WORD])], names=["text", "text"])
    with pa.OSFile(str(tmp_path / "twice.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(VecveilError, match="two columns of the same name"):
        open_source(tmp_path / "twice.arrow")


def test_an_npy_file_is_one_column_of_vectors(tmp_path: Path) -> None:
    vectors = unit_vectors(5)
    np.save(tmp_path / "v.npy", vectors)
    read = np.array([row["vector"] for row in _rows(tmp_path / "v.npy")], dtype=np.float32)
    np.testing.assert_array_equal(read, vectors)


@pytest.mark.parametrize("dtype", ["float16", "float64", ">f4", ">f8"])
def test_an_npy_file_may_hold_any_floating_point_numbers(tmp_path: Path, dtype: str) -> None:
    vectors = unit_vectors(3).astype(dtype)
    np.save(tmp_path / "v.npy", vectors)
    assert [row["vector"] for row in _rows(tmp_path / "v.npy")] == vectors.tolist()


def test_an_npy_file_in_fortran_order_keeps_its_rows(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.asfortranarray(unit_vectors(5)))
    np.testing.assert_array_equal([row["vector"] for row in _rows(tmp_path / "v.npy")], unit_vectors(5).tolist())


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.ones(4, dtype=np.float32), r"got shape \(4,\)"),
        (np.ones((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        (np.ones((2, 2), dtype=np.int32), "int32"),
        (np.ones((2, 0)), r"\(2, 0\)"),
        (np.array([["a", "b"]]), "<U1"),
        (np.ones((2, 2), dtype=np.longdouble), "longdouble|float128"),
    ],
)
def test_an_npy_file_of_anything_but_vectors_is_refused(tmp_path: Path, array: Any, reason: str) -> None:
    np.save(tmp_path / "v.npy", array)
    with pytest.raises(VecveilError, match=reason):
        open_source(tmp_path / "v.npy")


def test_an_npy_file_is_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ArtifactError, match=r"v\.npy cannot be read as npy"):
        open_source(tmp_path / "v.npy")


def test_a_zip_of_arrays_under_the_name_of_one_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", vectors=unit_vectors(2))
    (tmp_path / "v.npz").rename(tmp_path / "v.npy")
    with pytest.raises(ArtifactError, match=r"v\.npy cannot be read as npy"):
        open_source(tmp_path / "v.npy")


def test_an_npy_file_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", unit_vectors(100))
    (tmp_path / "v.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:1000])
    with pytest.raises(ArtifactError, match=r"v\.npy cannot be read as npy"):
        open_source(tmp_path / "v.npy")


def test_a_damaged_page_of_a_parquet_file_blames_the_file(tmp_path: Path) -> None:
    path = tmp_path / "damaged.parquet"
    pq.write_table(TABLE, path)
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=r"damaged\.parquet"):
        _rows(path)


def test_a_large_parquet_file_is_read_at_constant_memory(tmp_path: Path) -> None:
    path, groups, width = tmp_path / "large.parquet", 20, 256
    schema = pa.schema({"vector": pa.list_(pa.float32(), width)})
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        for _ in range(groups):
            writer.write_table(
                pa.table([column_of(rng.standard_normal((1000, width), dtype=np.float32))], schema=schema)
            )
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in open_source(path).batches(100)]
    assert max(held) < path.stat().st_size / 4
