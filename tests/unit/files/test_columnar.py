from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError, VecveilError
from vecveil.files import open_source
from vecveil.files.vectors import to_vector_column

TABLE = pa.table({"id": ["007", "008", "009"], "rank": pa.array([1, None, 3])})


def _rows(path: Path) -> list[dict[str, Any]]:
    return [row for batch in open_source(path).batches(2) for row in batch.to_pylist()]


def test_an_arrow_stream_is_read_like_an_arrow_file(tmp_path: Path) -> None:
    path = tmp_path / "stream.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert [row["id"] for row in _rows(path)] == ["007", "008", "009"]


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
                pa.table([to_vector_column(rng.standard_normal((1000, width), dtype=np.float32))], schema=schema)
            )
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in open_source(path).batches(100)]
    assert max(held) < path.stat().st_size / 4
