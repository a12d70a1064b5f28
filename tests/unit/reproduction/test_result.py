from __future__ import annotations

import csv
import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reproduction.plots import new_figure
from reproduction.result import RESULT, PaperResult, row_of
from vecveil.core.errors import VecveilWarning

KEYS = {"dataset": "sts12", "epsilon": "10", "defense": "sparse"}


def _result() -> PaperResult:
    rows = (
        row_of(KEYS, "leakage", [20.0, 22.0], scale="paper", paper=19.31),
        row_of(KEYS, "utility", [60.0], scale="paper"),
        row_of(KEYS, "leakage", [], scale="literal", paper=1.0),
    )
    return PaperResult(name="main", title="A table", rows=rows, notes=("One.", "Two."))


def test_a_line_holds_the_paper_s_figure_ours_and_the_difference() -> None:
    lines = list(csv.DictReader(io.StringIO(_result().table().csv())))
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
    shown = _result().table().markdown()
    assert "21 ± 1.4" in shown
    assert "60 ±" not in shown
    assert "One. Two." in shown


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_could_not_be_measured_is_left_out_of_a_mean(bad: float) -> None:
    assert row_of(KEYS, "leakage", [bad, 3.0]).ours == 3.0
    assert row_of(KEYS, "leakage", [bad]).ours is None


def test_everything_is_written(tmp_path: Path) -> None:
    _result().write(tmp_path / "main")
    names = {path.name for path in (tmp_path / "main").iterdir()}
    assert names == {"main.md", "main.csv", "main.tex", RESULT}
    kept = json.loads((tmp_path / "main" / RESULT).read_text())
    assert [row["metric"] for row in kept["rows"]] == ["leakage", "utility", "leakage"]
    assert r"21 $\pm$ 1.4" in (tmp_path / "main" / "main.tex").read_text()


def test_how_far_two_p_values_are_apart_is_not_told() -> None:
    row = row_of({"group": "all"}, "p-value", [0.5], paper=0.01)
    [line] = csv.DictReader(io.StringIO(PaperResult(name="x", title="", rows=(row,)).table().csv()))
    assert (line["p-value_paper"], line["p-value_ours"], line["p-value_difference"]) == ("0.01", "0.5", "")


def _plot() -> Any:
    figure, [axis] = new_figure(1, size=(2.0, 2.0))
    axis.plot([1, 2], [3, 4])
    return figure


def test_the_same_figures_make_the_same_plot(tmp_path: Path) -> None:
    drawn = replace(_result(), plots={"curve": _plot})
    for name in ("one", "other"):
        drawn.write(tmp_path / name)
    for kind in ("svg", "png"):
        one, other = ((tmp_path / name / f"curve.{kind}").read_bytes() for name in ("one", "other"))
        assert one == other


def test_without_matplotlib_tables_are_written_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.warns(VecveilWarning, match=r"no figures were drawn: .*vecveil\[research\]"):
        replace(_result(), plots={"curve": _plot}).write(tmp_path)
    assert "curve.svg" not in {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "main.tex").exists()
