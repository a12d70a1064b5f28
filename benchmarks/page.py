"""The page of results, and the same results as JSON."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.files import measure_files, measure_memory, measure_start
from benchmarks.growth import measure_growth
from benchmarks.learning import measure_learning
from benchmarks.measurement import Measurement
from benchmarks.noise import measure_noise, measure_single
from benchmarks.texts import measure_embedding, measure_texts
from benchmarks.workload import Workload
from vecveil.core.atomic import atomic_file
from vecveil.veil.provenance import installed_versions

Results = Mapping[str, Sequence[Measurement]]
"""What was measured, by the name of the group."""


@dataclass(frozen=True)
class Group:
    """Benchmarks that share a table.

    Attributes:
        title: Heading of the table.
        measure: Runs the benchmarks.
        note: Text above the table, with places for the sizes of the workload.
    """

    title: str
    measure: Callable[[Workload], list[Measurement]]
    note: str


GROUPS: Mapping[str, Group] = {
    "texts": Group(
        "Texts to protected vectors",
        measure_texts,
        "{texts:,} sentences through `veil.protect` with the model `minilm` and the default veil of the bundled "
        "corpus, beside one call of the model. Part of the difference is that texts are embedded in chunks, so that "
        "progress shows. Noise is made on one core, so that it weighs more where the model has several.",
    ),
    "noise": Group(
        "Noise in batches",
        measure_noise,
        "{rows:,} vectors of 768 numbers through `veil.perturb`, which checks, rounds, protects and puts them on the "
        "grid. The default's shape leaves axes out and estimates what was there. Our random numbers are AES-256's. "
        "Those of Algorithm 1 are NumPy's, which are faster and not private. ironcore-alloy encrypts: that hides "
        "vectors from those without the key, and from no one else. Noise and encryption "
        "[go together](how-to/recipes.md).",
    ),
    "single": Group(
        "One vector at a time",
        measure_single,
        "{singles:,} vectors of 768 numbers, one call of `veil.perturb` for each. Most of the time is the cost of "
        "calls; protect vectors in batches where you can.",
    ),
    "files": Group(
        "Parquet files",
        measure_files,
        "{file_rows:,} vectors of 768 numbers with ids, Parquet in and out. With a ledger the whole file is checked "
        "before the first vector is released, and the output is kept in parts, so that a stopped run can go on.",
    ),
    "memory": Group(
        "Memory",
        measure_memory,
        "The most memory of a process that protects a Parquet file, in which most is Python and its libraries. "
        "Files are read and written in parts.",
    ),
    "learning": Group(
        "Learning a shape",
        measure_learning,
        "{pairs:,} contrast pairs of 768 numbers. Of the mask's epochs, {epochs} were timed.",
    ),
    "embedding": Group(
        "Backends of a model",
        measure_embedding,
        "{texts:,} sentences, the model `minilm`.",
    ),
    "start": Group(
        "Start-up",
        measure_start,
        "A new process each time, with the time that Python itself takes to start.",
    ),
    "growth": Group(
        "Growth",
        measure_growth,
        "Each row beside the smallest size. A ratio of 1 means that cost grows in proportion to size, a ratio below 1 "
        "that it grows more slowly: small batches pay for calls and for new memory. A rotated shape takes a product "
        "with a matrix for each vector, so that a number costs more in a longer vector.",
    ),
}


def write_page(results: Results, workload: Workload, folder: Path, *, command: str) -> list[Path]:
    """Write the page and its data into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "command": command,
        "machine": describe_machine(),
        "versions": installed_versions(),
        "workload": asdict(workload),
        "results": {name: [asdict(row) | {"met": row.met} for row in rows] for name, rows in results.items()},
    }
    texts = {
        folder / "benchmarks.md": render_page(results, workload, command=command),
        folder / "benchmarks.json": json.dumps(data, indent=1, ensure_ascii=False) + "\n",
    }
    for path, text in texts.items():
        with atomic_file(path) as draft:
            draft.write_text(text, encoding="utf-8")
    return list(texts)


def render_page(results: Results, workload: Workload, *, command: str) -> str:
    """Return the page as Markdown."""
    machine = describe_machine()
    lines = [
        "# How fast it is",
        "",
        f"Written by `{command}` on {machine['processor']}, {machine['cores']} cores, {machine['system']}.",
        "Versions and exact numbers are in [benchmarks.json](benchmarks.json).",
        "",
        "Times are processor time, with libraries on one core. A row and its reference were timed in turn, "
        f"{workload.rounds} times or a few less, and the shortest time counts. The ratio is the time over that of the "
        "reference: below 1 is faster. A time is about one machine; a ratio says more.",
    ]
    for name, rows in results.items():
        group = GROUPS[name]
        lines += ["", f"## {group.title}", "", group.note.format_map(asdict(workload)), "", *_render_table(rows)]
    return "\n".join(lines) + "\n"


def describe_machine() -> dict[str, Any]:
    """Return what kind of machine this is."""
    details = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", details.read_text(encoding="utf-8")) if details.is_file() else None
    processor = found[1] if found else platform.processor() or platform.machine()
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.system()}


def _render_table(rows: Sequence[Measurement]) -> list[str]:
    lines = ["| | takes | reference | ratio | target |", "| --- | ---: | --- | ---: | --- |"]
    for row in rows:
        ratio = "" if row.ratio is None else _format_number(row.ratio)
        target = "" if row.target is None else f"≤ {row.target:.3g}, {'met' if row.met else '**missed**'}"
        lines.append(f"| {row.name} | {_format_number(row.value)} {row.unit} | {row.reference} | {ratio} | {target} |")
    return lines


def _format_number(value: float) -> str:
    """Return three digits, and no exponent where a number is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
