from __future__ import annotations

import json
from pathlib import Path

from benchmarks.measurement import Measurement
from benchmarks.page import GROUPS, describe_machine, render_page, write_page
from benchmarks.workload import FULL, QUICK

COPY = Measurement(name="copying", value=0.5, unit="s")
RESULTS = {
    "files": (
        COPY,
        Measurement(name="keyed", value=0.75, unit="s").compare(COPY, target=1.4),
        Measurement(name="slow", value=1234.5, unit="s").compare(COPY),
    ),
    "start": (Measurement(name="import vecveil", value=0.2, unit="s", target=0.3),),
}


def test_a_row_says_time_reference_ratio_and_target() -> None:
    text = render_page(RESULTS, FULL, command="python -m benchmarks")
    assert "| copying | 0.5 s |  |  |  |" in text
    assert "| keyed | 0.75 s | copying | 1.5 | ≤ 1.4, **missed** |" in text
    assert "| slow | 1,234 s | copying | 2,469 |  |" in text
    assert "| import vecveil | 0.2 s |  |  | ≤ 0.3, met |" in text


def test_a_page_says_how_it_was_made() -> None:
    text = render_page(RESULTS, FULL, command="python -m benchmarks files")
    assert f"`python -m benchmarks files` on {describe_machine()['processor']}" in text
    assert "100,000 vectors of 768 numbers" in text


def test_page_and_data_are_written(tmp_path: Path) -> None:
    paths = write_page(RESULTS, QUICK, tmp_path / "new", command="python -m benchmarks")
    assert {path.name for path in paths} == {"benchmarks.md", "benchmarks.json"}
    data = json.loads((tmp_path / "new" / "benchmarks.json").read_text())
    assert data["workload"]["rows"] == QUICK.rows
    assert data["results"]["files"][1] == {
        "name": "keyed",
        "value": 0.75,
        "unit": "s",
        "reference": "copying",
        "ratio": 1.5,
        "target": 1.4,
        "met": False,
    }


def test_every_note_fits_every_workload() -> None:
    for workload in (FULL, QUICK):
        assert "{" not in render_page(dict.fromkeys(GROUPS, (COPY,)), workload, command="")
