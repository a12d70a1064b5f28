from __future__ import annotations

from dataclasses import replace

import pytest
from support.audits import VEIL, made_audit, setting

from vecveil.audit.results import AuditResult, Outcome
from vecveil.reports.headline import chosen_ruling, headline, key_numbers
from vecveil.reports.points import Point
from vecveil.reports.rulings import Ruling, rulings
from vecveil.reports.summary import Summary


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return made_audit()


def ruled(result: AuditResult, *outcomes: Outcome) -> tuple[Ruling, ...]:
    return rulings(replace(one, outcome=outcome) for one, outcome in zip(result.verdicts, outcomes, strict=False))


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
def test_all_rulings_fit_into_a_sentence(result: AuditResult, outcomes: tuple[Outcome, ...], sentence: str) -> None:
    assert headline(ruled(result, *outcomes)) == sentence


def test_numbers_are_those_of_the_least_noise_that_passes(result: AuditResult) -> None:
    found = ruled(result, "fail", "fail", "pass", "pass", "fail")
    assert chosen_ruling(found) == found[2]


def test_where_nothing_passes_they_are_those_of_the_most_noise(result: AuditResult) -> None:
    found = ruled(result, "fail", "inconclusive", "fail", "fail", "fail")
    assert chosen_ruling(found) == found[4]
    assert chosen_ruling(()) is None


def test_the_strongest_attack_stands_for_all(result: AuditResult) -> None:
    summary = Summary.of(result)
    leakage, plain, *tasks = key_numbers(Point.of(setting(VEIL, 1.5)), summary)
    strongest = max(row.leakage.value for row in result.attacks if row.setting == setting(VEIL, 1.5))
    assert leakage.value == f"{strongest:.0%}"
    assert "averaging" in leakage.title
    assert "unprotected" in leakage.note
    assert float(plain.value.rstrip("%")) > float(leakage.value.rstrip("%"))
    assert [number.title for number in tasks] == ["Utility kept, neighbours", "Utility kept, sts:sts12.parquet"]


def test_without_attacks_there_is_less_to_say(result: AuditResult) -> None:
    numbers = key_numbers(Point.of(setting(VEIL, 1.5)), Summary.of(replace(result, attacks=())))
    assert len(numbers) == 2
