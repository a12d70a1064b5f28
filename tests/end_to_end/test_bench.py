from __future__ import annotations

import json
from pathlib import Path

from support.command_line import check_refusal, finished, start


def test_a_quick_bench_measures_noise_files_and_starts(work: Path) -> None:
    groups = ("start", "noise", "single", "files", "memory", "growth")
    outcome = finished(start("bench", *groups, "--quick", "--out", "found"))
    assert outcome.code == 0, outcome.err
    found = json.loads((work / "found" / "benchmarks.json").read_text())
    assert set(found["lines"]) == set(groups) - {"growth"}
    assert all(line["value"] > 0 for lines in found["lines"].values() for line in lines)
    assert {series["size"] for series in found["series"]} == {"length of a vector", "vectors", "contrast pairs"}
    assert (work / "found" / "benchmarks.md").read_text().startswith("# How fast it is")


def test_learning_and_training_are_measured_too(work: Path) -> None:
    outcome = finished(start("bench", "learning", "training", "--quick"))
    assert outcome.code == 0, outcome.err
    assert "plain PyTorch loop" in outcome.out
    assert list(work.iterdir()) == []


def test_an_unknown_group_gets_a_guess(work: Path) -> None:
    check_refusal(finished(start("bench", "nois")), "group of benchmarks", "noise")
    assert list(work.iterdir()) == []
