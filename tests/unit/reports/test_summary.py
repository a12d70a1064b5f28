from __future__ import annotations

from dataclasses import replace

import pytest

from support.audits import UNDEFENDED, VEIL, made_audit, setting, task_row
from vecveil.audit.result import AuditResult
from vecveil.reports.conditions import Condition
from vecveil.reports.summary import Summary


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit(seeds=(0, 1, 2))


def test_seeds_are_brought_together_and_counted(result: AuditResult) -> None:
    summary = Summary.from_result(result)
    assert len(summary.attacks) == len(result.attacks) / 3
    assert {found.seeds for found in (*summary.attacks, *summary.probes, *summary.tasks)} == {3}


def test_rows_are_ordered_by_attack_and_then_by_condition(result: AuditResult) -> None:
    summary = Summary.from_result(result)
    assert summary.attack_names == ("mlc", "geia", "vec2text", "nearest", "averaging, 4 releases")
    assert [found.condition for found in summary.attacks if found.name == "mlc"] == list(summary.conditions)


def test_an_attack_on_a_condition_is_found_by_name(result: AuditResult) -> None:
    summary = Summary.from_result(result)
    found = summary.attack(Condition.from_setting(setting(VEIL, 0.7)), "vec2text")
    assert found is not None
    mean = [row.leakage.value for row in result.attacks if row.attack == "vec2text" and _at(row.setting, 0.7)]
    assert found.row.leakage.value == pytest.approx(sum(mean) / 3)
    assert summary.attack(Condition.from_setting(UNDEFENDED), "nobody") is None


def test_categories_are_named_once(result: AuditResult) -> None:
    assert Summary.from_result(result).categories == ("DATE", "GPE", "ORG", "PERSON")


def test_what_is_kept_is_a_share_of_the_undefended_score() -> None:
    rows = task_row(UNDEFENDED, "sts:sts12.parquet"), task_row(setting(VEIL, 1.0), "sts:sts12.parquet")
    summary = Summary.from_result(replace(made_audit(), tasks=rows))
    kept = [found.kept.value for found in summary.tasks if found.kept is not None]
    assert kept == pytest.approx([1.0, rows[1].scores["pearson"] / rows[0].scores["pearson"]])


@pytest.mark.parametrize("control", [None, 0.0, -0.1])
def test_without_a_control_above_zero_no_share_is_kept(control: float | None) -> None:
    row = task_row(setting(VEIL, 1.0), "neighbors")
    undefended = replace(task_row(UNDEFENDED, "neighbors"), scores={"kept": control})
    rows = (row,) if control is None else (undefended, row)
    assert {found.kept for found in Summary.from_result(replace(made_audit(), tasks=rows)).tasks} == {None}


def test_a_task_run_with_two_protected_sides_is_two_tasks() -> None:
    both = task_row(UNDEFENDED, "retrieval:nfcorpus")
    summary = Summary.from_result(replace(made_audit(), tasks=(both, replace(both, protected="documents"))))
    assert summary.task_names == ("retrieval:nfcorpus, both protected", "retrieval:nfcorpus, documents protected")


def _at(one: object, ratio: float) -> bool:
    return replace(setting(VEIL, ratio), seed=getattr(one, "seed", 0)) == one
