"""Files: protecting one beside copying it, memory, and start-up."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measurement import VECTOR, Benchmark, Measurement, Work, time_benchmarks
from benchmarks.workload import DEFAULT, DIMENSIONS, LAPLACE, NARROW, Workload, make_vectors, make_veils
from vecveil.core.key import Key
from vecveil.files.vectors import to_vector_column
from vecveil.veil import protect_file

PART = 8192
"""Rows that are written together."""

COPY = "copying the file with pyarrow"

PEAK_MEMORY = """
import sys
from pathlib import Path
from vecveil.veil import Veil, protect_file
protect_file(Veil.load(sys.argv[1]), sys.argv[2], sys.argv[3], overwrite=True)
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")))
"""
"""Protects a file and prints the most memory that it took, in MiB."""

FIRST_VECTOR = """
import sys
import numpy
from vecveil import Veil
veil = Veil.load(sys.argv[1])
veil.perturb(numpy.eye(1, veil.fingerprint.dimensions))
"""
"""Protects one vector."""


def measure_files(workload: Workload) -> list[Measurement]:
    """Time Parquet in and out, without a ledger and with one."""
    veils, rows = make_veils(), workload.file_rows
    with TemporaryDirectory() as folder:
        source, output = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        write_vectors(source, rows, DIMENSIONS)
        ledgers = (Path(folder) / f"{number}.sqlite" for number in count())
        protect = partial(protect_file, source=source, output=output, id_column="id", overwrite=True)
        default = partial(protect, veils[DEFAULT])
        works: dict[str, Work] = {
            LAPLACE: partial(protect, veils[LAPLACE]),
            DEFAULT: default,
            f"{DEFAULT}, keyed": partial(default, key=Key.new()),
            f"{DEFAULT}, on record in a ledger": lambda: default(ledger=next(ledgers)),
        }
        benchmarks = [Benchmark(COPY, partial(copy_file, source, output), rows)]
        benchmarks += [Benchmark(name, work, rows, VECTOR, COPY) for name, work in works.items()]
        return time_benchmarks(benchmarks, rounds=max(2, workload.rounds // 2))


def measure_memory(workload: Workload) -> list[Measurement]:
    """Measure the most memory that the protection of a file takes."""
    found: list[Measurement] = []
    with TemporaryDirectory() as folder:
        veil, source, output = (Path(folder) / name for name in ("a.veil", "in.parquet", "out.parquet"))
        make_veils(NARROW)[DEFAULT].save(veil)
        for rows in workload.memory_rows:
            write_vectors(source, rows, NARROW)
            peak = Measurement(
                name=f"{rows:,} vectors of {NARROW} numbers",
                value=float(run_python("-c", PEAK_MEMORY, str(veil), str(source), str(output))),
                unit="MiB",
            )
            found.append(peak.compare(found[0], target=1.25) if found else peak)
    return found


def measure_start(workload: Workload) -> list[Measurement]:
    """Time a new process until it has done something."""
    with TemporaryDirectory() as folder:
        veil = Path(folder) / "a.veil"
        make_veils()[DEFAULT].save(veil)
        starts: dict[str, tuple[float | None, tuple[str, ...]]] = {
            "python -c pass": (None, ("-c", "pass")),
            "import vecveil": (0.3, ("-c", "import vecveil")),
            "vecveil --help": (0.5, ("-c", "from vecveil.cli.main import main; main()", "--help")),
            "load a veil and protect one vector": (None, ("-c", FIRST_VECTOR, str(veil))),
        }
        benchmarks = [
            Benchmark(name, partial(run_python, *arguments), unit="s", target=target)
            for name, (target, arguments) in starts.items()
        ]
        return time_benchmarks(benchmarks, rounds=workload.rounds)


def run_python(*arguments: str) -> str:
    """Run Python in a process of its own, and return what it prints."""
    return subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def write_vectors(path: Path, rows: int, dimensions: int) -> None:
    """Write a Parquet file of random vectors with ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    vectors = make_vectors(min(rows, PART), dimensions)
    schema = pa.schema({"id": pa.int64(), "vector": pa.list_(pa.float32(), dimensions)})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, PART):
            part = vectors[: min(PART, rows - start)]
            ids = pa.array(np.arange(start, start + len(part)))
            writer.write_batch(pa.record_batch([ids, to_vector_column(part)], schema=schema))


def copy_file(source: Path, target: Path) -> None:
    """Read a Parquet file and write it again, batch by batch."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(source) as table, pq.ParquetWriter(target, table.schema_arrow) as writer:
        for batch in table.iter_batches(batch_size=PART):
            writer.write_batch(batch)
