from __future__ import annotations

import json
from pathlib import Path

import pytest

from vecveil.bench.groups import LINES, Result
from vecveil.bench.growth import Series
from vecveil.bench.line import Line
from vecveil.bench.page import page, write_page
from vecveil.bench.remarks import TITLES

RESULT = Result(
    lines={
        "noise": (
            Line.times_slower("Laplace", 3.0, "µs a vector", "drawing", 2.0, most=1.3),
            Line.times_faster("Laplace", 3.0, "µs a vector", "one at a time", 60.0, least=12),
        ),
        "start": (Line(what="import vecveil", value=0.2, unit="s", wanted=0.3),),
    },
    series=(Series(name="Laplace", size="vectors", sizes=(10, 100, 1000, 10_000), seconds=(1e-3, 1e-3, 1e-2, 1e-1)),),
)

MACHINE = {"processor": "abacus", "instructions": "beads", "cores": 2, "system": "Linux"}


def test_a_page_says_what_was_reached_and_what_was_missed() -> None:
    text = page(RESULT, command="vecveil bench", machine=MACHINE)
    assert "| Laplace | 3 µs a vector | drawing | 1.50 × as much | ≤ 1.3 | **missed** |" in text
    assert "| Laplace | 3 µs a vector | one at a time | 20.00 × as fast | ≥ 12 | reached |" in text
    assert "| import vecveil | 0.2 s |  |  | ≤ 0.3 | reached |" in text
    assert "| Laplace | vectors | 10 | 10,000 | 0.1 s | 1.00 |" in text
    assert "abacus with beads, 2 cores" in text


def test_page_plot_and_figures_are_written(tmp_path: Path) -> None:
    written = write_page(RESULT, tmp_path / "new", command="vecveil bench")
    assert {path.name for path in written} == {"benchmarks.md", "benchmarks.json", "benchmarks.svg"}
    found = json.loads((tmp_path / "new" / "benchmarks.json").read_text())
    assert found["lines"]["noise"][0]["reached"] is False
    assert found["series"][0]["slope"] == pytest.approx(1.0)
    assert "<svg" in (tmp_path / "new" / "benchmarks.svg").read_text()


def test_every_group_has_a_title() -> None:
    assert set(TITLES) == set(LINES)
