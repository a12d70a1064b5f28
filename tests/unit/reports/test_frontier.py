from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from vecveil.audit.frontier.results import NO_DEFENSE, REDACTED, FrontierPoint, FrontierResult, FrontierRow
from vecveil.reports.frontier import cells_table, frontier_table, write_frontier
from vecveil.reports.table import Table

# For each defense and level: what each attack reads, by chance a tenth of it.
LEAKAGE = {
    (NO_DEFENSE, 1.0): {"mlc": 0.8, "nearest": 0.6},
    (REDACTED, 1.0): {"mlc": 0.2, "nearest": 0.1},
    ("uniform", 0.9): {"mlc": 0.5, "nearest": 0.4},
    ("canonical", 0.9): {"mlc": 0.2, "nearest": 0.3},
}


def _row(contender: str, level: float, attack: str, leakage: float, seed: int) -> FrontierRow:
    return FrontierRow(
        contender=contender,
        level=level,
        seed=seed,
        attack=attack,
        words=leakage,
        guess=leakage / 10,
        leakage=leakage,
        chance=leakage / 10,
        top_one=leakage,
        auc=0.5 + leakage / 2,
        seconds=1.0,
    )


def _point(contender: str, level: float, seed: int) -> FrontierPoint:
    return FrontierPoint(
        contender=contender,
        level=level,
        seed=seed,
        directions=4 if contender == "canonical" else 0,
        noise_ratio=0.0 if level == 1.0 else 0.5,
        epsilon=None if level == 1.0 else 20.0,
        utility=level,
        search=level,
        unnamed=level,
        reranked=1.0,
        blank=0.3,
        blank_chance=0.1,
    )


@pytest.fixture(scope="module")
def result() -> FrontierResult:
    rows = [
        _row(contender, level, attack, leakage, seed)
        for (contender, level), read in LEAKAGE.items()
        for attack, leakage in read.items()
        for seed in (0, 1)
    ]
    return FrontierResult(
        plan={
            "contenders": ["uniform", "canonical"],
            "attacks": ["mlc", "nearest"],
            "levels": [0.99, 0.9],
            "seeds": [0, 1],
        },
        utility={"measured_by": "search apart from the concept", "undefended": [0.7]},
        corpus={"texts": 1200, "with_concept": 900},
        embedder={"model": "words"},
        versions={"vecveil": "0.1.0"},
        choices=(),
        points=tuple(_point(contender, level, seed) for contender, level in LEAKAGE for seed in (0, 1)),
        rows=tuple(rows),
    )


def _lines(table: Table) -> dict[tuple[str, ...], dict[str, object]]:
    keys = [column.key for column in table.columns]
    words = [number for number, column in enumerate(table.columns) if column.words]
    return {
        tuple(row[number].text for number in words): {key: cell.value for key, cell in zip(keys, row, strict=True)}
        for row in table.rows
    }


def test_the_strongest_attack_stands_for_a_defense(result: FrontierResult) -> None:
    lines = _lines(frontier_table(result))
    assert lines["90 %", "canonical", "nearest"]["excess"] == pytest.approx(0.27)
    assert lines["90 %", "canonical", "nearest"]["against_laplace"] == pytest.approx(0.27 / 0.45)
    assert lines["90 %", "canonical", "nearest"]["directions"] == 4
    assert lines["90 %", "uniform", "mlc"]["against_laplace"] == 1.0
    assert lines["–", "no defense", "mlc"]["excess"] == pytest.approx(0.72)


def test_a_level_that_a_defense_cannot_keep_says_so(result: FrontierResult) -> None:
    assert ("99 %", "canonical", "none: it can't keep that much") in _lines(frontier_table(result))
    assert "1,200 texts, 900 with the concept; 2 repetitions" in frontier_table(result).note


def test_each_attack_is_held_against_context_and_plain_noise(result: FrontierResult) -> None:
    lines = _lines(cells_table(result))
    assert len(lines) == 4 * 2
    cell = lines["90 %", "canonical", "mlc"]
    assert cell["excess"] == pytest.approx(0.18)
    # What the same attack reads where the concept was taken out of the texts is not the defense's to hide.
    assert cell["beyond_context"] == 0.0
    assert cell["over_uniform"] == pytest.approx(0.18 / 0.45)
    assert lines["90 %", "uniform", "nearest"]["beyond_context"] == pytest.approx(0.36 - 0.09)
    assert (cell["top_one"], cell["auc"]) == (pytest.approx(0.2), pytest.approx(0.6))


def test_plain_noise_that_leaks_nothing_is_no_measure(result: FrontierResult) -> None:
    rows = tuple(replace(row, words=row.guess) if row.contender == "uniform" else row for row in result.rows)
    silent = replace(result, rows=rows)
    assert _lines(frontier_table(silent))["90 %", "canonical", "nearest"]["against_laplace"] is None
    assert _lines(cells_table(silent))["90 %", "canonical", "mlc"]["over_uniform"] is None


def test_tables_and_figures_are_written_whole_and_the_same_again(result: FrontierResult, tmp_path: Path) -> None:
    write_frontier(result, tmp_path)
    names = ["frontier-cells.csv", "frontier.csv", "frontier.md", "frontier.png", "frontier.svg"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert (tmp_path / "frontier.md").read_text(encoding="utf-8").count("\n## ") == 1
    assert "<dc:date>" not in (tmp_path / "frontier.svg").read_text(encoding="utf-8")
    before = (tmp_path / "frontier.csv").read_bytes()
    write_frontier(result, tmp_path)
    assert (tmp_path / "frontier.csv").read_bytes() == before
