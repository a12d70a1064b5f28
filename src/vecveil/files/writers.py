"""Writers of Arrow batches: Parquet, Arrow and `.npy` files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vecveil.core.errors import InvalidInputError
from vecveil.files.vectors import VECTOR, holds_vectors

ROW_GROUP = 16_384
"""Rows of a Parquet row group: many small parts would make a file that is slow to read."""


class ParquetWriter:
    """Writes a Parquet file, which is whole once it is closed.

    Args:
        path: The file.
        schema: Arrow schema of its batches, with the metadata of the file.
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

    def close(self, notes: Mapping[str, str] | None = None) -> None:
        """Write what is left, and the end of the file, with notes in its metadata."""
        try:
            if self._group:
                self._write_group()
            self._file.add_key_value_metadata(dict(notes or {}))
        finally:
            self._file.close()

    def _write_group(self) -> None:
        import pyarrow as pa

        self._file.write_table(pa.Table.from_batches(self._group).cast(self._file.schema))
        self._group = []


class NpyWriter:
    """Writes a `.npy` file of the vectors alone, which is whole once it is closed.

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

    def close(self, notes: Mapping[str, str] | None = None) -> None:
        """Write the number of rows into the header; it has no place for notes."""
        del notes
        with self._stream:
            self._stream.seek(0)
            self._write_header()

    def _write_header(self) -> None:
        # NumPy leaves space in it for any number of rows.
        header = {"descr": self._number.str, "fortran_order": False, "shape": (self._rows, self._width)}
        np.lib.format.write_array_header_1_0(self._stream, header)


Writer: TypeAlias = ParquetWriter | NpyWriter


def open_writer(path: Path, schema: Any) -> Writer:
    """Return what writes batches of an Arrow schema to a file, by its ending; an existing one is overwritten."""
    return NpyWriter(path, schema) if path.suffix == ".npy" else ParquetWriter(path, schema)


def write_parquet(path: Path, batches: Iterable[Any], schema: Any) -> None:
    """Write record batches to a Parquet file."""
    writer = ParquetWriter(path, schema)
    try:
        for batch in batches:
            writer.write(batch)
    finally:
        writer.close()


def write_arrow(path: Path, batch: Any) -> None:
    """Write one record batch to an Arrow file, as it lies in memory."""
    import pyarrow as pa

    with pa.ipc.new_file(str(path), batch.schema) as writer:
        writer.write_batch(batch)


def require_parquet(schema: Any) -> None:
    """Raise, with the name of the column, unless every column of an Arrow schema can be written as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for field in schema:
        try:
            pq.write_table(pa.schema([field]).empty_table(), pa.BufferOutputStream())
        except pa.ArrowException:
            raise InvalidInputError(
                f"column {field.name!r} of type {field.type} can't be written as Parquet; leave it out of the input"
            ) from None


def decode_categories(schema: Any) -> Any:
    """Return a schema with categories as plain values: Parquet gives back only some of them as categories."""
    import pyarrow as pa

    return pa.schema(
        [field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in schema],
        metadata=schema.metadata,
    )
