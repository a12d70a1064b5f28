from __future__ import annotations

from dataclasses import replace

import pytest

from support.audits import UNDEFENDED, made_audit
from vecveil.audit.result import AuditResult
from vecveil.reports.attack_tables import matrix, probes_matrix
from vecveil.reports.conditions import Condition
from vecveil.reports.summary import Summary


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit()


def test_at_a_glance_there_is_a_row_per_defense_and_a_column_per_attack(result: AuditResult) -> None:
    summary = Summary.from_result(result)
    table = matrix(summary, "confidence")
    assert [column.title for column in table.columns] == ["Defense", "Budget", *summary.attack_names]
    assert len(table.rows) == 16
    control = summary.attack(Condition.from_setting(UNDEFENDED), "geia")
    assert control is not None
    assert table.rows[0][3].value == control.row.confidence.value


def test_what_was_not_attacked_is_left_blank(result: AuditResult) -> None:
    some = tuple(row for row in result.attacks if row.attack != "geia" or row.setting.defense == "none")
    table = matrix(Summary.from_result(replace(result, attacks=some)), "leakage")
    column = [column.title for column in table.columns].index("geia")
    assert [row[column].text == "–" for row in table.rows] == [False] + [True] * 15


def test_budgets_are_sorted_by_their_noise(result: AuditResult) -> None:
    table = probes_matrix(Summary.from_result(result))
    assert [row[1].value for row in table.rows[:4]] == [None, 0.3, 0.5, 0.7]
    assert [column.title for column in table.columns[2:]] == ["linear, AUC", "mlp, AUC"]
