from __future__ import annotations

from pathlib import Path

from pyarrow import parquet

from benchmarks.files import PART, copy_file, run_python, write_vectors


def test_a_copy_holds_the_same_vectors_and_ids(tmp_path: Path) -> None:
    rows = PART + 3
    write_vectors(tmp_path / "in.parquet", rows, 4)
    copy_file(tmp_path / "in.parquet", tmp_path / "out.parquet")
    copied = parquet.read_table(tmp_path / "out.parquet")
    assert copied.equals(parquet.read_table(tmp_path / "in.parquet"))
    assert copied["id"].to_pylist() == list(range(rows))


def test_python_is_run_with_arguments() -> None:
    assert run_python("-c", "import sys; print(sys.argv[1])", "x") == "x\n"
