from __future__ import annotations

import json
from pathlib import Path

from support.command_line import check_refusal, finished, start_python


def test_a_quick_bench_writes_a_page_and_its_data(work: Path) -> None:
    outcome = finished(start_python("-m", "benchmarks", "--quick", "--out", "found"))
    assert outcome.code == 0, outcome.err
    results = json.loads((work / "found" / "benchmarks.json").read_text())["results"]
    assert list(results) == [
        *("texts", "noise", "single", "files", "memory", "learning", "embedding", "start", "growth"),
    ]
    assert all(row["value"] > 0 for rows in results.values() for row in rows)
    for rows in results.values():
        names = {row["name"] for row in rows}
        assert {row["reference"] for row in rows} - {""} <= names
    page = (work / "found" / "benchmarks.md").read_text()
    assert page.startswith("# How fast it is")
    assert page.strip() in outcome.out


def test_named_groups_are_measured_alone(work: Path) -> None:
    outcome = finished(start_python("-m", "benchmarks", "learning", "single", "--quick"))
    assert outcome.code == 0, outcome.err
    assert [line for line in outcome.out.splitlines() if line.startswith("## ")] == [
        "## Learning a shape",
        "## One vector at a time",
    ]
    assert list(work.iterdir()) == []


def test_an_unknown_group_gets_a_guess(work: Path) -> None:
    check_refusal(finished(start_python("-m", "benchmarks", "nois")), "group of benchmarks", "noise")
    assert list(work.iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_refused(work: Path) -> None:
    (work / "taken").write_text("")
    check_refusal(finished(start_python("-m", "benchmarks", "--out", "taken")), "taken is a file")
