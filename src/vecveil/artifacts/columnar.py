"""Sources that know their own types: Parquet, Arrow IPC and NumPy files. Imports pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vecveil.artifacts.vectors import VECTOR, column_of
from vecveil.core.errors import InvalidInputError


class ParquetSource:
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        self._file = pq.ParquetFile(path)
        self.schema: Any = self._file.schema_arrow
        self.rows: int = self._file.metadata.num_rows

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        yield from self._file.iter_batches(batch_size=rows)


class ArrowSource:
    """An Arrow IPC (Feather) file."""

    def __init__(self, path: Path) -> None:
        self._file = pa.ipc.open_file(pa.memory_map(str(path)))
        self.schema: Any = self._file.schema
        self.rows: int = sum(self._file.get_batch(i).num_rows for i in range(self._file.num_record_batches))

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for index in range(self._file.num_record_batches):
            batch = self._file.get_batch(index)
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)


class NpySource:
    """A two-dimensional `.npy` file, as one column of vectors."""

    def __init__(self, path: Path) -> None:
        self._array = np.load(path, mmap_mode="r", allow_pickle=False)
        if self._array.ndim != 2 or self._array.dtype.kind != "f":
            shape, kind = self._array.shape, self._array.dtype
            raise InvalidInputError(f"{path} must hold rows of floating-point numbers, got shape {shape} of {kind}")
        self.schema: Any = pa.schema({VECTOR: pa.list_(pa.from_numpy_dtype(self._array.dtype), self._array.shape[1])})
        self.rows: int = self._array.shape[0]

    def batches(self, rows: int) -> Iterator[Any]:
        """Yield the table in batches of at most `rows` rows, in order."""
        for start in range(0, self.rows, rows):
            column = column_of(self._array[start : start + rows])
            yield pa.RecordBatch.from_arrays([column], schema=self.schema)
