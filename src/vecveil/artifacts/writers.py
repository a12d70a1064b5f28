"""Arrow batches to a Parquet, an Arrow or a `.npy` file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from vecveil.artifacts.vectors import VECTOR, holds_vectors

ROW_GROUP = 16_384
"""Rows of a Parquet row group: many small parts would make a file that is slow to read."""


class BatchWriter(Protocol):
    """A file that is being written; it is whole once it is closed."""

    def write(self, batch: Any) -> None:
        """Write one Arrow record batch behind the others."""
        ...

    def close(self) -> None:
        """Write what is left."""
        ...


class ParquetWriter:
    """A Parquet file in the making.

    Args:
        path: The file.
        schema: Arrow schema of its batches, with what the file is to say of itself.
    """

    def __init__(self, path: Path, schema: Any) -> None:
        import pyarrow.parquet as pq

        # Few numbers of a vector come twice. To look for those that do takes longer than all else together.
        listed = [field.name for field in schema if not holds_vectors(field.type)]
        self._file = pq.ParquetWriter(path, schema, compression="snappy", use_dictionary=listed)
        self._group: list[Any] = []

    def write(self, batch: Any) -> None:
        """Write one batch, together with others where it is small."""
        self._group.append(batch)
        if sum(part.num_rows for part in self._group) >= ROW_GROUP:
            self._write_group()

    def close(self) -> None:
        """Write what is left, and the end of the file."""
        try:
            if self._group:
                self._write_group()
        finally:
            self._file.close()

    def _write_group(self) -> None:
        import pyarrow as pa

        self._file.write_table(pa.Table.from_batches(self._group).cast(self._file.schema))
        self._group = []


class NpyWriter:
    """A `.npy` file in the making, of the vectors alone.

    Args:
        path: The file.
        schema: Arrow schema of its batches.
    """

    def __init__(self, path: Path, schema: Any) -> None:
        kind = schema.field(VECTOR).type
        self._number, self._width = np.dtype(kind.value_type.to_pandas_dtype()), kind.list_size
        self._rows = 0
        # Plain writes, not a memory map: a full disk must be an error that can be caught, not a signal that kills.
        self._stream = path.open("wb")
        self._write_header()

    def write(self, batch: Any) -> None:
        """Write the vectors of one batch."""
        values = batch.column(VECTOR).flatten().to_numpy(zero_copy_only=False)
        self._stream.write(np.ascontiguousarray(values, dtype=self._number).data)
        self._rows += batch.num_rows

    def close(self) -> None:
        """Say at the beginning how many rows there are."""
        with self._stream:
            self._stream.seek(0)
            self._write_header()

    def _write_header(self) -> None:
        # NumPy leaves room in it for any number of rows.
        header = {"descr": self._number.str, "fortran_order": False, "shape": (self._rows, self._width)}
        np.lib.format.write_array_header_1_0(self._stream, header)


def writer_of(path: Path, schema: Any, *, npy: bool) -> BatchWriter:
    """Return a writer of `.npy` or of Parquet."""
    return NpyWriter(path, schema) if npy else ParquetWriter(path, schema)


def write_parquet(path: Path, batches: Iterable[Any], schema: Any) -> None:
    """Write record batches to a Parquet file."""
    writer = ParquetWriter(path, schema)
    try:
        for batch in batches:
            writer.write(batch)
    finally:
        writer.close()


def write_arrow(path: Path, batch: Any) -> None:
    """Write one record batch as it lies in memory: to be read again soon, by us."""
    import pyarrow as pa

    with pa.ipc.new_file(str(path), batch.schema) as writer:
        writer.write_batch(batch)
