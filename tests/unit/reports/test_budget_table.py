from __future__ import annotations

from dataclasses import replace

from support.audits import UNDEFENDED, VEIL, made_audit, setting
from vecveil.reports.budget_table import budgets_table, glance_cells, setting_cells
from vecveil.reports.conditions import Condition
from vecveil.reports.summary import Summary


def test_every_budget_of_every_defense_has_its_three_readings() -> None:
    table = budgets_table(Summary.from_result(made_audit(seeds=(0, 1))))
    assert len(table.rows) == 3 * 5
    readings = setting(VEIL, 0.3).readings
    assert readings is not None
    assert [cell.value for cell in table.rows[0]] == [
        "veil",
        "noise 0.3",
        0.3,
        readings.epsilon,
        "Mahalanobis distance",
        readings.pair_loss,
    ]


def test_what_has_no_budget_is_not_among_the_budgets() -> None:
    result = replace(made_audit(), attacks=(), probes=(), verdicts=())
    assert "none" not in {row[0].text for row in budgets_table(Summary.from_result(result)).rows}


def test_a_budget_is_read_as_it_was_asked_for_and_sorted_by_its_noise() -> None:
    asked = Condition.from_setting(replace(setting(VEIL, 1.5), asked="ε = 10 (paper's scale)"))
    assert [cell.text for cell in setting_cells(asked)] == ["veil", "ε = 10 (paper's scale)", "1.5"]
    assert [(cell.text, cell.value) for cell in glance_cells(asked)] == [
        ("veil", "veil"),
        ("ε = 10 (paper's scale)", 1.5),
    ]


def test_unprotected_vectors_have_a_name_and_no_budget() -> None:
    control = Condition.from_setting(UNDEFENDED)
    assert [cell.text for cell in setting_cells(control)] == ["none", "–", "–"]
    assert [cell.value for cell in glance_cells(control)] == ["none", None]
