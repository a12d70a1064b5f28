from __future__ import annotations

from dataclasses import replace

import pytest

from support.audits import UNDEFENDED, VEIL, attack_row, made_audit, setting, task_row
from vecveil.audit.result import AuditResult
from vecveil.reports.summary import Summary
from vecveil.reports.table import Table
from vecveil.reports.utility_tables import scores_table, tasks_table, trade_offs_table


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit()


def _column(table: Table, key: str) -> int:
    return [column.key for column in table.columns].index(key)


def test_a_task_keeps_all_of_its_score_where_nothing_is_protected(result: AuditResult) -> None:
    table = tasks_table(Summary.from_result(result))
    assert len(table.rows) == 3 * 16
    kept = {(row[0].text, row[1].text, row[2].text): row[_column(table, "kept")] for row in table.rows}
    assert kept["neighbors", "none", "–"].text == "100.0 %"
    shares = [kept["neighbors", "veil", budget].value for budget in ("noise 0.3", "noise 0.7", "noise 1.5")]
    assert shares == sorted(shares, key=float, reverse=True)


def test_every_score_of_a_task_has_a_line(result: AuditResult) -> None:
    table = scores_table(Summary.from_result(result))
    assert {(row[0].text, row[_column(table, "measure")].text) for row in table.rows} == {
        ("neighbors", "kept"),
        ("sts:sts12.parquet", "pearson"),
        ("sts:sts12.parquet", "second pearson"),
        ("retrieval:nfcorpus", "ndcg@10"),
        ("retrieval:nfcorpus", "second ndcg@10"),
    }
    assert len(table.rows) == 16 * 5


def test_a_trade_off_is_held_against_unprotected_vectors() -> None:
    behind = setting(VEIL, 1.0)
    attacks = attack_row(UNDEFENDED, "mlc"), attack_row(behind, "mlc")
    tasks = task_row(UNDEFENDED, "neighbors"), task_row(behind, "neighbors")
    table = trade_offs_table(Summary.from_result(replace(made_audit(), attacks=attacks, tasks=tasks, verdicts=())))
    hidden = attacks[0].leakage.value - attacks[1].leakage.value
    lost = tasks[0].scores["kept"] - tasks[1].scores["kept"]
    [row] = [row for row in table.rows if row[_column(table, "budget")].text == "noise 1"]
    assert row[_column(table, "leakage_drop")].value == pytest.approx(hidden)
    assert row[_column(table, "utility_drop")].value == pytest.approx(lost)
    assert row[_column(table, "rate")].value == pytest.approx(hidden / lost)
    assert (
        row[_column(table, "words")].text == f"hides {100 * hidden:.1f} points for {100 * lost:.1f} points of utility"
    )


@pytest.mark.parametrize("missing", ["attacks", "tasks"])
def test_without_a_positive_control_there_is_no_trade_off(result: AuditResult, missing: str) -> None:
    rows = tuple(row for row in getattr(result, missing) if row.setting.defense != "none")
    assert trade_offs_table(Summary.from_result(replace(result, **{missing: rows}))).rows == ()
