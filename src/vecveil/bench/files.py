"""Files: protecting one beside copying it, and how much memory that takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from vecveil.artifacts.vectors import VECTOR, column_of
from vecveil.bench.effort import Effort
from vecveil.bench.line import Line
from vecveil.bench.noise import DEFAULT, LAPLACE
from vecveil.bench.subjects import DIMENSIONS, unit_vectors, veils
from vecveil.bench.timing import Work, best_seconds
from vecveil.veil import Veil, protect_file

PART = 8192
NARROW = 64
"""Length of the vectors of files by which memory is looked at: five million of them fit on any disk."""

COPY = "reading and writing the same file"

_PEAK = """
import sys
from pathlib import Path
from vecveil.veil import Veil, protect_file
protect_file(Veil.load(sys.argv[1]), sys.argv[2], sys.argv[3], overwrite=True)
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")))
"""
"""Protects a file and prints the most memory that it took, in MiB.

What `resource` tells would be that of the process that started it, if that is larger.
"""


def file_lines(effort: Effort) -> Iterator[Line]:
    """Yield how fast a Parquet file of vectors is protected, without a ledger and with one."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        source = written(place / "in.parquet", effort.file_rows, DIMENSIONS)
        made = veils()
        ledger = place / "ledger.sqlite"

        def protecting(veil: Veil, **options: Any) -> Work:
            return lambda: protect_file(veil, source, place / "out.parquet", overwrite=True, **options)

        works: dict[str, Work] = {
            COPY: lambda: copied(source, place / "copy.parquet"),
            LAPLACE: protecting(made[LAPLACE]),
            DEFAULT: protecting(made[DEFAULT]),
            "with a ledger": protecting(made[LAPLACE], ledger=ledger, id_column="id"),
        }
        took = best_seconds(works, rounds=max(2, effort.rounds // 2))
    per_vector = {name: 1e6 * value / effort.file_rows for name, value in took.items()}
    yield Line(what=COPY, value=per_vector[COPY], unit="µs a vector")
    for name, least in ((LAPLACE, 0.7), (DEFAULT, 0.7), ("with a ledger", None)):
        what = f"protect, {name}"
        yield Line.times_faster(what, per_vector[name], "µs a vector", COPY, per_vector[COPY], least=least)


def memory_lines(effort: Effort) -> Iterator[Line]:
    """Yield the most memory that protecting a file takes, by its rows."""
    first = None
    with TemporaryDirectory() as folder:
        place = Path(folder)
        veils(NARROW)[DEFAULT].save(place / "a.veil")
        for rows in effort.memory_rows:
            source = written(place / "in.parquet", rows, NARROW)
            arguments = [str(place / "a.veil"), str(source), str(place / "out.parquet")]
            ran = subprocess.run([sys.executable, "-c", _PEAK, *arguments], capture_output=True, text=True, check=True)
            peak = float(ran.stdout)
            what = f"most memory, a file of {rows:,} vectors of {NARROW} numbers"
            if first is None:
                first = peak
                yield Line(what=what, value=peak, unit="MiB")
            else:
                yield Line.times_slower(what, peak, "MiB", f"{effort.memory_rows[0]:,} vectors", first, most=1.25)


def written(path: Path, rows: int, dimensions: int) -> Path:
    """Write a Parquet file of random vectors with ids, and return its path."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    vectors = unit_vectors(min(rows, PART), dimensions)
    schema = pa.schema({"id": pa.int64(), VECTOR: pa.list_(pa.float32(), dimensions)})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, PART):
            part = vectors[: min(PART, rows - start)]
            ids = pa.array(np.arange(start, start + len(part)))
            writer.write_batch(pa.record_batch([ids, column_of(part)], schema=schema))
    return path


def copied(source: Path, target: Path) -> None:
    """Read a Parquet file and write it again, batch by batch, as its library does by default."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(source) as table, pq.ParquetWriter(target, table.schema_arrow) as writer:
        for batch in table.iter_batches(batch_size=PART):
            writer.write_batch(batch)
