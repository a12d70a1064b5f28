"""Arrow batches to a Parquet or a `.npy` file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.artifacts.vectors import VECTOR

ROW_GROUP = 16_384
"""Rows of a Parquet row group: many small parts would make a file that is slow to read."""


def write_batches(path: Path, batches: Iterable[Any], *, schema: Any, rows: int, npy: bool) -> None:
    """Write record batches to `path`, as `.npy` (its column of vectors alone) or as Parquet."""
    if npy:
        _write_npy(path, batches, schema.field(VECTOR).type, rows)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for group in _grouped(batches, ROW_GROUP):
            writer.write_table(pa.Table.from_batches(group, schema=schema))


def _grouped(batches: Iterable[Any], rows: int) -> Iterator[list[Any]]:
    group: list[Any] = []
    size = 0
    for batch in batches:
        group.append(batch)
        size += batch.num_rows
        if size >= rows:
            yield group
            group, size = [], 0
    if group:
        yield group


def _write_npy(path: Path, batches: Iterable[Any], kind: Any, rows: int) -> None:
    # Plain writes, not a memory map: a full disk must be an error that can be caught, not a signal that kills.
    number = np.dtype(kind.value_type.to_pandas_dtype())
    header = {"descr": number.str, "fortran_order": False, "shape": (rows, kind.list_size)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        for batch in batches:
            values = batch.column(VECTOR).flatten().to_numpy(zero_copy_only=False)
            stream.write(np.ascontiguousarray(values, dtype=number).data)
