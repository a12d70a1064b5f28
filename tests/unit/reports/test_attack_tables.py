from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from support.audits import UNDEFENDED, estimate, made_audit
from vecveil.audit.result import AuditResult
from vecveil.reports.attack_tables import blanks_table, matrix, probes_matrix, probes_table
from vecveil.reports.conditions import Condition
from vecveil.reports.summary import Summary
from vecveil.reports.table import Table


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


@pytest.mark.parametrize("table", [probes_table, blanks_table])
def test_intervals_over_texts_and_over_seeds_stand_apart(table: Callable[[Summary], Table]) -> None:
    made = made_audit(seeds=(0, 1))
    rows = replace(made.blanks[0], right=estimate(0.25)), replace(made.blanks[-1], right=estimate(0.75))
    seeds = [replace(one.setting, label="none", asked="", defense="none", readings=None) for one in rows]
    blanks = tuple(replace(row, setting=seed) for row, seed in zip(rows, seeds, strict=True))
    probes = tuple(replace(made.probes[0], setting=seed, auc=row.right) for row, seed in zip(rows, seeds, strict=True))
    found = table(Summary.from_result(replace(made, attacks=(), tasks=(), verdicts=(), blanks=blanks, probes=probes)))
    cells = dict(zip([column.title for column in found.columns], found.rows[0], strict=True))
    number = cells["AUC" if "AUC" in cells else "Right"]
    assert (number.value, number.low, number.high) == pytest.approx((0.5, 0.48, 0.52))
    assert cells["Over seeds"].text in {"0.250 to 0.750", "25.0 % to 75.0 %"}
    assert cells["Seeds"].value == 2
