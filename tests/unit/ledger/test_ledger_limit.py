"""The limit, on every database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pytest

from support.ledgers import fresh, made_charge, names, read_spent
from vecveil.core.errors import BudgetExceededError, InvalidInputError
from vecveil.ledger import Ledger, Totals, open_ledger

T = TypeVar("T")


@pytest.fixture
def ledger(ledger_place: str) -> Iterator[Ledger]:
    with open_ledger(ledger_place) as opened:
        opened.set_limit(10.0)
        yield opened


def test_a_limit_counts_for_everyone_until_it_is_taken_away(ledger: Ledger, ledger_place: str) -> None:
    with open_ledger(ledger_place) as other:
        assert other.limit == 10.0
        other.set_limit(0.1 + 0.2)
        assert ledger.limit == 0.1 + 0.2
        ledger.set_limit(None)
        assert other.limit is None


@pytest.mark.parametrize("nats", [-1.0, float("nan"), float("inf"), "10"])
def test_a_limit_is_a_finite_number(ledger: Ledger, nats: float) -> None:
    with pytest.raises(InvalidInputError, match="limit"):
        ledger.set_limit(nats)
    assert ledger.limit == 10.0


def test_a_release_over_the_limit_is_refused_and_leaves_nothing(ledger: Ledger) -> None:
    ledger.spend(made_charge(cost=6.0), 0, names(1), fresh(1))
    charge = made_charge(cost=4.5)
    with pytest.raises(BudgetExceededError) as refusal:
        ledger.spend(charge, 0, names(2, 1, 3), fresh(3))
    error = refusal.value
    assert (error.records, error.cost, error.spent, error.total, error.limit) == (1, 4.5, 6.0, 10.5, 10.0)
    assert read_spent(ledger, names(1, 2, 3)) == [6.0, 0.0, 0.0]
    assert ledger.totals().releases == 1
    # The others can still afford it.
    ledger.spend(charge, 0, names(2, 3), fresh(2))


def test_a_refusal_tells_what_to_do_and_names_no_record(ledger: Ledger) -> None:
    charge = made_charge(cost=11.0)
    with pytest.raises(BudgetExceededError) as refusal:
        ledger.spend(charge, 0, names(1, 2), fresh(2))
    said = str(refusal.value)
    for part in (
        "2 records would go over the limit of 10 nats per unit of Euclidean distance",
        "One release costs 11;",
        "has spent 0 so far and would come to 11",
        "smaller epsilon",
        "keyed noise",
        "vecveil ledger limit",
    ):
        assert part in said
    assert "record0" not in said
    assert names(1)[0].hex() not in said


def test_what_exactly_fits_is_allowed_whatever_sums_round_to(ledger: Ledger) -> None:
    ledger.set_limit(0.3)
    charge = made_charge(cost=0.1)
    ledger.require(charge, [(names(1, 1, 1), fresh(3))])
    ledger.spend(charge, 0, names(1, 1, 1), fresh(3))
    assert read_spent(ledger, names(1)) == [0.1 + 0.1 + 0.1]
    assert read_spent(ledger, names(1))[0] > 0.3
    with pytest.raises(BudgetExceededError):
        ledger.spend(charge, 3, names(1), fresh(1))
    assert ledger.problems() == []


def test_a_record_that_comes_twice_pays_twice(ledger: Ledger) -> None:
    charge = made_charge(cost=6.0)
    tokens = fresh(3)
    with pytest.raises(BudgetExceededError, match="1 record would"):
        ledger.spend(charge, 0, names(1, 2, 1), tokens)
    # Also where the two are in different batches.
    with pytest.raises(BudgetExceededError, match="1 record would"):
        ledger.require(charge, [(names(1, 2), tokens[:2]), (names(1), tokens[2:])])
    assert ledger.totals().releases == 0


def test_keyed_noise_is_free_when_it_is_repeated(ledger: Ledger) -> None:
    keyed = names(1, 2, kind="keyed")
    for _ in range(3):
        charge = made_charge(cost=6.0, noise="keyed")
        ledger.require(charge, [(names(1, 2), keyed), (names(1), keyed[:1])])
        ledger.spend(charge, 0, names(1, 2), keyed)
    assert ledger.totals() == Totals(releases=6, records=2, highest=6.0)
    with pytest.raises(BudgetExceededError):
        ledger.require(charge, [(names(1), names(9, kind="keyed"))])


def test_what_adds_nothing_is_not_refused_even_over_the_limit(ledger: Ledger) -> None:
    charge, tokens = made_charge(cost=6.0), fresh(2)
    ledger.spend(charge, 0, names(1, 2), tokens)
    ledger.set_limit(5.0)
    # A killed run goes on with rows that it had on record, and whose vectors it had not written.
    ledger.require(charge, [(names(1, 2), tokens)])
    ledger.spend(charge, 0, names(1, 2), tokens)
    with pytest.raises(BudgetExceededError):
        ledger.spend(charge, 2, names(1), fresh(1))


def test_everything_is_refused_before_the_first_row_is_recorded(ledger: Ledger) -> None:
    ledger.spend(made_charge(cost=6.0), 0, names(*range(50, 80)), fresh(30))
    charge = made_charge(cost=5.0)
    batches = [(names(*range(start, start + 10)), fresh(10)) for start in range(0, 100, 10)]
    with pytest.raises(BudgetExceededError) as refusal:
        ledger.require(charge, iter(batches))
    assert refusal.value.records == 30
    assert ledger.totals().releases == 30
    assert len(ledger.runs()) == 1


def test_a_resumed_run_is_not_counted_twice(ledger: Ledger) -> None:
    charge, records, tokens = made_charge(cost=6.0), names(*range(20)), fresh(20)
    ledger.require(charge, [(records, tokens)])
    ledger.spend(charge, 0, records[:8], tokens[:8])
    ledger.require(charge, [(records, tokens)])
    ledger.require(charge, [(records[8:], tokens[8:])])
    ledger.spend(charge, 4, records[4:], tokens[4:])
    assert set(read_spent(ledger, records)) == {6.0}


def test_without_a_limit_nothing_is_read(ledger: Ledger) -> None:
    ledger.set_limit(None)
    untouched = iter([(names(1), fresh(1))])
    ledger.require(made_charge(cost=1e9), untouched)
    assert len(list(untouched)) == 1


def test_a_limit_of_zero_lets_nothing_out(ledger: Ledger) -> None:
    ledger.set_limit(0)
    with pytest.raises(BudgetExceededError):
        ledger.spend(made_charge(cost=1e-9), 0, names(1), fresh(1))


def test_asking_keeps_no_one_from_writing(ledger: Ledger, ledger_place: str) -> None:
    with open_ledger(ledger_place) as other:
        charge = made_charge(cost=6.0)

        def batches() -> Iterator[tuple[list[bytes], list[bytes]]]:
            yield names(1), fresh(1)
            other.spend(charge, 0, names(2, 3), fresh(2))
            yield names(2), fresh(1)

        # What was released meanwhile counts.
        with pytest.raises(BudgetExceededError, match="1 record would"):
            ledger.require(made_charge(cost=6.0), batches())


def test_asking_tells_how_far_it_is(ledger: Ledger) -> None:
    seen = []

    def progress(
        items: Iterable[T], *, label: str, total: int | None = None, weigh: Callable[[T], int] | None = None
    ) -> Iterator[T]:
        for item in items:
            seen.append((label, 1 if weigh is None else weigh(item)))
            yield item

    ledger.require(made_charge(), [(names(1, 2), fresh(2)), (names(3), fresh(1))], progress=progress)
    assert seen == [("checking the budget", 2), ("checking the budget", 1)]
