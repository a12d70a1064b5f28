from __future__ import annotations

from dataclasses import replace

import pytest

from support.audits import VEIL, made_audit, setting
from vecveil.audit.results import AuditResult, Outcome
from vecveil.reports.combined_verdict import CombinedVerdict, combine_verdicts
from vecveil.reports.conditions import Condition
from vecveil.reports.headline import choose_verdict, headline, key_numbers
from vecveil.reports.summary import Summary


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit()


def combined(result: AuditResult, *outcomes: Outcome) -> tuple[CombinedVerdict, ...]:
    verdicts = zip(result.verdicts, outcomes, strict=False)
    return combine_verdicts(replace(one, outcome=outcome) for one, outcome in verdicts)


@pytest.mark.parametrize(
    ("outcomes", "sentence"),
    [
        ((), "No verdict: no veil was audited"),
        (("fail",), "Fail at the one budget tried"),
        (("fail", "fail"), "Fail at both budgets tried"),
        (("pass", "pass", "pass"), "Pass at all 3 budgets tried"),
        (("fail", "inconclusive", "pass", "pass"), "Pass at 2 of 4 budgets, fail at 1, inconclusive at 1"),
        (("fail", "inconclusive"), "Fail at 1 of 2 budgets, inconclusive at 1"),
    ],
)
def test_all_verdicts_fit_into_a_sentence(result: AuditResult, outcomes: tuple[Outcome, ...], sentence: str) -> None:
    assert headline(combined(result, *outcomes)) == sentence


def test_numbers_are_those_of_the_least_noise_that_passes(result: AuditResult) -> None:
    found = combined(result, "fail", "fail", "pass", "pass", "fail")
    assert choose_verdict(found) == found[2]


def test_where_nothing_passes_they_are_those_of_the_most_noise(result: AuditResult) -> None:
    found = combined(result, "fail", "inconclusive", "fail", "fail", "fail")
    assert choose_verdict(found) == found[4]
    assert choose_verdict(()) is None


def test_the_strongest_attack_stands_for_all(result: AuditResult) -> None:
    summary = Summary.from_result(result)
    leakage, plain, *tasks = key_numbers(Condition.from_setting(setting(VEIL, 1.5)), summary)
    strongest = max(row.leakage.value for row in result.attacks if row.setting == setting(VEIL, 1.5))
    assert leakage.value == f"{strongest:.0%}"
    assert "averaging" in leakage.title
    assert "unprotected" in leakage.note
    assert float(plain.value.rstrip("%")) > float(leakage.value.rstrip("%"))
    assert [number.title for number in tasks] == ["Utility kept, neighbors", "Utility kept, sts:sts12.parquet"]


def test_without_attacks_there_is_less_to_say(result: AuditResult) -> None:
    numbers = key_numbers(Condition.from_setting(setting(VEIL, 1.5)), Summary.from_result(replace(result, attacks=())))
    assert len(numbers) == 2
