"""Sources with types of their own: Parquet, Arrow and NumPy files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecveil.core.errors import InvalidInputError
from vecveil.files.vectors import VECTOR, to_vector_column


class ParquetSource:
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        # Arrow reads ahead unless told not to, and keeps what it has read until the file is closed.
        self._file = pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
        self.schema: Any = self._file.schema_arrow
        self.rows: int = self._file.metadata.num_rows

    def batches(self, rows: int, columns: list[str] | None = None) -> Iterator[Any]:
        """Yield the table, or some of its columns, in batches of at most `rows` rows, in order."""
        yield from self._file.iter_batches(batch_size=rows, columns=columns)


class ArrowSource:
    """An Arrow IPC file (Feather), or a stream of Arrow batches in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as reader:
            self.schema: Any = reader.schema
        self.rows: int = sum(batch.num_rows for batch in self._read())

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for batch in self._read():
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)

    def _open(self) -> Any:
        mapped = pa.memory_map(str(self._path))
        try:
            return pa.ipc.open_file(mapped)
        except pa.ArrowInvalid:
            mapped.seek(0)
            return pa.ipc.open_stream(mapped)

    def _read(self) -> Iterator[Any]:
        with self._open() as reader:
            if isinstance(reader, pa.RecordBatchFileReader):
                yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
            else:
                yield from reader


class NpySource:
    """A two-dimensional `.npy` file, as one column of vectors."""

    def __init__(self, path: Path) -> None:
        self._path = path
        array = self._map()
        if not isinstance(array, np.ndarray):
            raise TypeError("it holds several arrays")
        if array.ndim != 2 or array.shape[1] == 0 or not _is_vector_number(array.dtype):
            found = f"shape {array.shape} of {array.dtype}"
            raise InvalidInputError(f"{path} must hold rows of floating-point numbers of up to 64 bits, got {found}")
        self._kind = array.dtype.newbyteorder("=")
        self.schema: Any = pa.schema({VECTOR: pa.list_(pa.from_numpy_dtype(self._kind), array.shape[1])})
        self.rows: int = array.shape[0]

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for start in range(0, self.rows, rows):
            # Mapped anew each time: pages of one long-lived map would pile up until the whole file is in memory.
            column = to_vector_column(np.array(self._map()[start : start + rows], dtype=self._kind))
            yield pa.RecordBatch.from_arrays([column], schema=self.schema)

    def _map(self) -> Any:
        return np.load(self._path, mmap_mode="r", allow_pickle=False)


def _is_vector_number(kind: np.dtype[Any]) -> bool:
    """Return whether rows of `kind` can be vectors, or vectors that were released in whole steps."""
    return (kind.kind == "f" and kind.itemsize <= 8) or kind == np.int8
