from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from support.audits import made_audit
from vecveil.audit.result import AuditResult
from vecveil.core.errors import ArtifactError
from vecveil.reports import write_tables
from vecveil.reports.tables import tables


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit(seeds=(0, 1))


@pytest.fixture(scope="module")
def folder(result: AuditResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit") / "tables"
    write_tables(result, folder)
    return folder


def lines(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_there_is_a_file_for_each_table_and_nothing_half_written(folder: Path) -> None:
    names = ["overview", "verdicts", "exposed", "budgets", "attacks", "categories", "blanks", "probes"]
    names += ["tasks", "scores", "trade-offs"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(["tables.md", *(f"{name}.csv" for name in names)])


def test_attacks_are_shown_over_seeds_with_all_their_measures(folder: Path, result: AuditResult) -> None:
    found = next(line for line in lines(folder, "attacks") if (line["attack"], line["defense"]) == ("mlc", "none"))
    rows = [row for row in result.attacks if row.attack == "mlc" and row.setting.defense == "none"]
    assert float(found["leakage"]) == pytest.approx(sum(row.leakage.value for row in rows) / 2)
    assert found["seeds"] == "2"
    assert {"leakage_low", "chance", "confidence", "precision", "top_one", "auc", "similarity"} <= found.keys()


def test_every_budget_is_has_three_readings(folder: Path) -> None:
    for line in lines(folder, "budgets"):
        assert all(float(line[reading]) > 0 for reading in ("epsilon", "noise_ratio", "pair_loss"))
        assert "distance" in line["distance"]


def test_each_defense_has_a_trade_off_for_each_attack_and_task(folder: Path) -> None:
    found = lines(folder, "trade-offs")
    assert len(found) == 15 * 5 * 3
    assert all(float(line["leakage_drop"]) > 0 and line["words"] for line in found if line["noise_ratio"] == "1.0")


def test_verdicts_come_with_reasons_and_with_what_each_attack_says(folder: Path) -> None:
    together = [line for line in lines(folder, "verdicts") if line["attack"] == "all together"]
    assert [line["outcome"] for line in together] == ["fail", "fail", "fail", "inconclusive", "pass"] * 2
    assert [line["seed"] for line in together] == ["0"] * 5 + ["1"] * 5
    assert all(line["reason"] for line in together)
    assert len(lines(folder, "verdicts")) == 2 * 5 * (1 + 5)


def test_the_page_of_tables_holds_them_all(folder: Path, result: AuditResult) -> None:
    text = (folder / "tables.md").read_text(encoding="utf-8")
    assert [table.title for table in tables(result)] == [line[3:] for line in text.splitlines() if line[:3] == "## "]


def test_an_audit_of_nothing_has_tables_too(result: AuditResult, tmp_path: Path) -> None:
    empty = replace(result, attacks=(), probes=(), blanks=(), tasks=(), verdicts=(), sheets=())
    first, *_ = write_tables(empty, tmp_path)
    assert first.read_text(encoding="utf-8").count("Nothing of this kind was run.") == 9


def test_a_folder_that_cannot_be_made_is_named(result: AuditResult, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ArtifactError, match="file could not be made"):
        write_tables(result, tmp_path / "file")
