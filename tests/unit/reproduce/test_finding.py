from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from vecveil.reproduce.finding import RESULT, Finding, row_of

KEYS = {"dataset": "sts12", "epsilon": "10", "defence": "sparse"}


def _finding() -> Finding:
    rows = (
        row_of(KEYS, "leakage", [20.0, 22.0], scale="paper", paper=19.31),
        row_of(KEYS, "utility", [60.0], scale="paper"),
        row_of(KEYS, "leakage", [], scale="literal", paper=1.0),
    )
    return Finding(name="main", title="A table", rows=rows, notes=("One.", "Two."))


def test_a_line_holds_the_paper_s_figure_ours_and_the_difference() -> None:
    lines = list(csv.DictReader(io.StringIO(_finding().table().csv())))
    assert len(lines) == 2
    assert lines[0] | {"scale": ""} == {
        **KEYS,
        "scale": "",
        "leakage_paper": "19.31",
        "leakage_ours": "21.0",
        "leakage_difference": str(21.0 - 19.31),
        "utility_paper": "",
        "utility_ours": "60.0",
        "utility_difference": "",
    }
    assert lines[1]["leakage_ours"] == lines[1]["leakage_difference"] == ""


def test_spread_over_seeds_is_shown_and_one_seed_has_none() -> None:
    shown = _finding().table().markdown()
    assert "21 ± 1.4" in shown
    assert "60 ±" not in shown
    assert "One. Two." in shown


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_could_not_be_measured_is_left_out_of_a_mean(bad: float) -> None:
    assert row_of(KEYS, "leakage", [bad, 3.0]).ours == 3.0
    assert row_of(KEYS, "leakage", [bad]).ours is None


def test_everything_is_written(tmp_path: Path) -> None:
    _finding().write(tmp_path / "main")
    names = {path.name for path in (tmp_path / "main").iterdir()}
    assert names == {"main.md", "main.csv", "main.tex", RESULT}
    kept = json.loads((tmp_path / "main" / RESULT).read_text())
    assert [row["metric"] for row in kept["rows"]] == ["leakage", "utility", "leakage"]
    assert r"21 $\pm$ 1.4" in (tmp_path / "main" / "main.tex").read_text()
