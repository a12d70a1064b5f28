"""What was measured as a page, a plot and a file for machines."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import llvmlite.binding

from vecveil.artifacts.atomic import atomic_file
from vecveil.bench.groups import Result
from vecveil.bench.growth import Series
from vecveil.bench.line import Line
from vecveil.bench.remarks import REMARKS, TITLES
from vecveil.reproduce.plots import new_figure
from vecveil.veil.provenance import installed_versions

_WIDE = {"AVX-512": "avx512f", "AVX2": "avx2", "NEON": "neon"}
"""Instructions for several numbers at once, the widest first, as LLVM calls them."""

PAGE, PLOT, DATA = "benchmarks.md", "benchmarks.svg", "benchmarks.json"


def write_page(result: Result, folder: Path, *, command: str) -> list[Path]:
    """Write page, figures and plot into a folder, and return what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = machine_facts()
    found = {
        "command": command,
        "machine": machine,
        "versions": installed_versions(),
        "lines": {
            name: [{**asdict(line), "reached": line.reached} for line in lines] for name, lines in result.lines.items()
        },
        "series": [{**asdict(series), "slope": series.slope} for series in result.series],
    }
    written = [folder / DATA, folder / PAGE]
    with atomic_file(folder / DATA) as draft:
        draft.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    with atomic_file(folder / PAGE) as draft:
        draft.write_text(page(result, command=command, machine=machine), encoding="utf-8")
    if result.series:
        written.append(folder / PLOT)
        with atomic_file(folder / PLOT) as draft:
            _plot(result.series).savefig(draft, format="svg", metadata={"Date": None})
    return written


def page(result: Result, *, command: str, machine: Mapping[str, Any]) -> str:
    """Return the page."""
    parts = [
        "# How fast it is",
        "",
        f"Written by `{command}` on {machine['processor']} with {machine['instructions']}, "
        f"{machine['cores']} cores, {machine['system']}.",
        "Every figure and versions are in [benchmarks.json](benchmarks.json). Each thing and what it is compared with",
        "were timed in turn in the same run, and the shortest time counts. A time says something about one machine; a",
        "ratio says more.",
        "",
    ]
    for name, lines in result.lines.items():
        parts += [f"## {TITLES[name]}", "", *_table(lines), "", *(f"{remark}\n" for remark in REMARKS.get(name, ()))]
    if result.series:
        parts += [
            "## How cost grows",
            "",
            f"![Time over size, both as powers of ten]({PLOT})",
            "",
            "| what | over | from | to | time at the largest | grows with the power |",
            "| --- | --- | ---: | ---: | ---: | ---: |",
        ]
        parts += [
            f"| {one.name} | {one.size} | {one.sizes[0]:,} | {one.sizes[-1]:,} | {one.seconds[-1]:.3g} s "
            f"| {one.slope:.2f} |"
            for one in result.series
        ]
        parts += ["", *(f"{remark}\n" for remark in REMARKS["growth"])]
    return "\n".join(parts).rstrip() + "\n"


def machine_facts() -> dict[str, Any]:
    """Return what kind of machine this is."""
    features = llvmlite.binding.get_host_cpu_features()
    return {
        "processor": _processor(),
        "instructions": next((name for name, told in _WIDE.items() if features.get(told)), platform.machine()),
        "cores": os.cpu_count(),
        "system": platform.system(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _table(lines: Sequence[Line]) -> list[str]:
    rows = ["| what | takes | compared with | ratio | must reach | |", "| --- | ---: | --- | ---: | ---: | --- |"]
    for line in lines:
        ratio = "" if line.ratio is None else f"{line.ratio:.2f} × {'as fast' if line.faster else 'as much'}"
        wanted = "" if line.wanted is None else f"{'≥' if line.at_least else '≤'} {line.wanted:g}"
        reached = {None: "", True: "reached", False: "**missed**"}[line.reached]
        takes = f"{line.value:.4g} {line.unit}" if line.unit else f"{line.value:.5f}"
        rows.append(f"| {line.what} | {takes} | {line.than} | {ratio} | {wanted} | {reached} |")
    return rows


def _plot(series: Sequence[Series]) -> Any:
    sizes = list(dict.fromkeys(one.size for one in series))
    figure, panels = new_figure(len(sizes), size=(5.0, 5.0))
    for size, panel in zip(sizes, panels, strict=True):
        for one in (one for one in series if one.size == size):
            panel.loglog(one.sizes, one.seconds, marker="o", label=one.name)
        panel.set_xlabel(size)
        panel.set_ylabel("seconds")
        panel.grid(visible=True, alpha=0.3)
        panel.tick_params(axis="x", which="minor", labelbottom=False)
        panel.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)
    return figure
