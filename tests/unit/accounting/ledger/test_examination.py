"""What the check finds, on every database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.ledgers import fresh, made_charge, names, tamper

from vecveil.accounting.ledger import Charge, Ledger, open_ledger


@pytest.fixture
def charge() -> Charge:
    return made_charge(cost=4.0)


@pytest.fixture
def ledger(ledger_place: str, charge: Charge) -> Iterator[Ledger]:
    with open_ledger(ledger_place) as opened:
        opened.begin(charge)
        opened.spend(charge, 0, names(*range(10)), fresh(10))
        yield opened


def test_a_sound_ledger_has_no_problems(ledger: Ledger) -> None:
    ledger.set_limit(4.0)
    assert ledger.problems() == []


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM releases WHERE place = 4", "9 rows on record, numbered from 0 to 9"),
        ("DELETE FROM releases WHERE place < 3", "7 rows on record, numbered from 3 to 9"),
    ],
)
def test_rows_that_were_taken_out_are_missed(
    ledger: Ledger, ledger_place: str, charge: Charge, statement: str, said: str
) -> None:
    tamper(ledger_place, statement)
    (problem,) = ledger.problems()
    assert charge.run in problem
    assert said in problem


def test_a_run_that_was_taken_out_is_missed(ledger: Ledger, ledger_place: str) -> None:
    tamper(ledger_place, "DELETE FROM runs")
    (problem,) = ledger.problems()
    assert "10 releases belong to a run that is not on record" in problem


def test_records_over_a_limit_that_was_lowered_are_counted(ledger: Ledger) -> None:
    ledger.set_limit(3.0)
    (problem,) = ledger.problems()
    assert problem == "10 records over the limit of 3 nats per unit of Euclidean distance; the highest has spent 4"
