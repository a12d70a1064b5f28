from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.ledgers import made_charge, read_spent
from vecveil.accounting import GaussianLoss
from vecveil.core.errors import ArtifactError, BudgetExceededError, InvalidInputError
from vecveil.ledger import Ledger, new_run, open_ledger
from vecveil.veil.ledger_run import LedgerRun, choose_ledger, record_learning

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(place: Path) -> Iterator[Ledger]:
    with open_ledger(place) as opened:
        yield opened


def _ids(*numbers: int) -> list[bytes]:
    return [b"s%d" % number for number in numbers]


def _releases(place: Path) -> list[int]:
    """Return how many releases each run has, and fail unless the ledger is in order."""
    with open_ledger(place) as ledger:
        assert ledger.problems() == []
        return sorted(run.releases for run in ledger.runs())


def _in_a_fork(work: Callable[[], None]) -> int:
    """Run `work` in a fork, and return its exit code; one that hangs is ended by a signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            threading.Timer(20, lambda: os._exit(2)).start()
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_ledger_that_is_named_is_opened_when_it_is_needed_and_closed_again(place: Path) -> None:
    run = LedgerRun(place, made_charge())
    run.close()
    assert not place.exists()
    ledger = run.open().ledger
    assert run.open().ledger is ledger
    assert run.id == ledger.id
    run.close()
    with pytest.raises(InvalidInputError, match="is closed"):
        ledger.totals()


def test_an_open_ledger_stays_open(ledger: Ledger) -> None:
    run = LedgerRun(ledger, made_charge())
    run.spend(_ids(1), None)
    run.close()
    assert ledger.totals().releases == 1


def test_a_run_that_was_closed_goes_on_as_another(place: Path) -> None:
    """Its rows are numbered from zero, and those of the first are on record with other records."""
    run = LedgerRun(place, made_charge())
    run.spend(_ids(1, 2), None)
    run.close()
    run.spend(_ids(3), None)
    run.close()
    assert _releases(place) == [1, 2]


def test_rows_are_numbered_without_gaps_by_many_threads(place: Path) -> None:
    run = LedgerRun(place, made_charge())
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: run.spend(_ids(number, number + 1000), None), range(40)))
    run.close()
    assert _releases(place) == [80]
    with open_ledger(place) as ledger:
        assert sorted(release.row for release in ledger.releases()) == list(range(80))


def test_a_run_is_on_record_from_its_first_release_on(ledger: Ledger) -> None:
    run = LedgerRun(ledger, made_charge())
    run.open()
    assert ledger.runs() == []
    run.spend(_ids(1), None)
    assert len(ledger.runs()) == 1


def test_a_refusal_takes_no_numbers(ledger: Ledger) -> None:
    ledger.set_limit(1.5)
    run = LedgerRun(ledger, made_charge(cost=1.0))
    run.spend(_ids(1, 2), None)
    with pytest.raises(BudgetExceededError):
        run.spend(_ids(3, 1), None)
    run.spend(_ids(3, 4), None)
    assert [entry.row for entry in ledger.releases()] == [0, 1, 2, 3]
    assert len(ledger.runs()) == 1
    assert ledger.problems() == []


@pytest.mark.parametrize("written", [True, False])
def test_a_release_of_unknown_outcome_starts_a_new_run(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    run = LedgerRun(ledger, made_charge())
    run.spend(_ids(1, 2), None)
    first, spend = run.open().charge.run, type(ledger).spend

    def lose(*given: Any, **more: Any) -> None:
        if written:
            spend(*given, **more)
        raise ArtifactError("the connection was lost")

    with monkeypatch.context() as patch:
        patch.setattr(type(ledger), "spend", lose)
        with pytest.raises(ArtifactError, match="lost"):
            run.spend(_ids(3, 4, 5), None)
    run.spend(_ids(6), None)
    assert run.open().charge.run != first
    assert sorted(one.releases for one in ledger.runs() if one.releases) == [1, 5 if written else 2]
    assert ledger.problems() == []


@needs_fork
@pytest.mark.parametrize("used", [True, False])
def test_a_fork_has_a_connection_and_a_run_of_its_own(place: Path, used: bool) -> None:
    run = LedgerRun(place, made_charge())
    if used:
        run.spend(_ids(1), None)
    else:
        open_ledger(place).close()
    for number in (10, 20):
        assert _in_a_fork(lambda number=number: run.spend(_ids(number, number + 1), None)) == 0  # type: ignore[misc]
    run.spend(_ids(2), None)
    run.close()
    assert _releases(place) == [2 if used else 1, 2, 2]


@needs_fork
def test_a_fork_does_not_close_what_its_parent_has_opened(place: Path) -> None:
    run = LedgerRun(place, made_charge())
    run.spend(_ids(1), None)
    assert _in_a_fork(run.close) == 0
    run.spend(_ids(2), None)
    run.close()
    assert _releases(place) == [2]


@needs_fork
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("busy", ["opening", "spending"])
def test_a_fork_does_not_wait_for_a_thread_that_only_its_parent_has(
    place: Path, monkeypatch: pytest.MonkeyPatch, busy: str
) -> None:
    run = LedgerRun(place, made_charge())
    entered, leave, real = threading.Event(), threading.Event(), open_ledger
    if busy == "spending":
        run.spend(_ids(1), None)
    process, spend = os.getpid(), type(real(place)).spend

    def wait() -> None:
        if os.getpid() == process:
            entered.set()
            leave.wait(30)

    def slow_open(where: str | Path) -> Ledger:
        wait()
        return real(where)

    def slow_spend(*given: Any, **more: Any) -> None:
        wait()
        spend(*given, **more)

    if busy == "opening":
        monkeypatch.setattr("vecveil.veil.ledger_run.open_ledger", slow_open)
    else:
        monkeypatch.setattr(type(real(place)), "spend", slow_spend)
    thread = threading.Thread(target=run.spend, args=(_ids(2), None))
    thread.start()
    try:
        assert entered.wait(30)
        assert _in_a_fork(lambda: run.spend(_ids(3), None)) == 0
    finally:
        leave.set()
        thread.join()
    run.close()
    assert _releases(place) == ([1, 1] if busy == "opening" else [1, 2])


def test_a_run_of_an_earlier_process_is_gone_on_with(ledger: Ledger) -> None:
    charge = made_charge()
    first = LedgerRun(ledger, charge)
    first.spend(_ids(1, 2), None)
    second = LedgerRun(ledger, made_charge())
    second.resume(charge, 1)
    # The row that was recorded before its part was written: the same again changes nothing.
    second.spend(_ids(2), None)
    second.spend(_ids(3), None)
    assert ledger.totals().releases == 3
    assert len(ledger.runs()) == 1


def test_equal_tokens_cost_once_and_fresh_noise_each_time(ledger: Ledger) -> None:
    keyed, fresh = LedgerRun(ledger, made_charge(noise="keyed")), LedgerRun(ledger, made_charge())
    for _ in range(3):
        keyed.spend(_ids(1), [b"the noise of 1  "])
        fresh.spend(_ids(2), None)
    assert read_spent(ledger, ledger.digests([b"\0s1", b"\0s2"])) == pytest.approx([1.0, 3.0])


def test_ledgers_share_neither_records_nor_tokens(ledger: Ledger, tmp_path: Path) -> None:
    """Who has two of them must not be told which records they share."""
    token = [b"the noise of 1  "]
    with open_ledger(tmp_path / "other.sqlite") as other:
        LedgerRun(ledger, made_charge(noise="keyed")).spend(_ids(1), token)
        LedgerRun(other, made_charge(noise="keyed")).spend(_ids(1), token)
        entries = [*ledger.releases(), *other.releases()]
    assert len({entry.record for entry in entries}) == len({entry.token for entry in entries}) == 2


def test_all_of_a_run_is_checked_before_any_of_it_is_recorded(ledger: Ledger) -> None:
    def batches() -> Iterator[tuple[Sequence[bytes], Sequence[bytes] | None]]:
        yield _ids(1, 2), None
        yield _ids(3, 2), None

    run = LedgerRun(ledger, made_charge(cost=1.0))
    run.check(batches())
    ledger.set_limit(1.5)
    with pytest.raises(BudgetExceededError, match="1 record "):
        run.check(batches())
    run.check(iter([(_ids(1, 2, 3), None)]))
    assert ledger.totals().releases == 0


def test_nothing_is_read_for_a_check_without_a_limit(ledger: Ledger) -> None:
    def batches() -> Iterator[tuple[Sequence[bytes], None]]:
        raise AssertionError("the input was read")
        yield [], None

    LedgerRun(ledger, made_charge()).check(batches())


def test_the_default_ledger_is_found_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VECVEIL_LEDGER", "somewhere.sqlite")
    assert choose_ledger("default") == choose_ledger(None) == "somewhere.sqlite"
    assert choose_ledger("mine.sqlite") == "mine.sqlite"
    assert choose_ledger("none") is None
    monkeypatch.delenv("VECVEIL_LEDGER")
    assert choose_ledger(None) is None


def test_learning_is_a_release_with_what_is_bounded_of_it(place: Path) -> None:
    losses = {"center": GaussianLoss(), "axes": GaussianLoss(epsilon=2.0)}
    for known in ({}, losses):
        record_learning(place, _ids(*range(3)), veil="a1" * 32, learner="subspace", losses=known)
    with open_ledger(place) as ledger:
        bare, bounded = (run.charge for run in ledger.runs())
    assert (bare.kind, bare.mechanism, bare.epsilon, bare.distance, bare.cost) == ("shape", "subspace", *[None] * 3)
    assert (bounded.epsilon, bounded.cost) == (3.0, None)
    assert bounded.distance == "one text, center and axes alone, delta 2e-06"


def test_runs_of_one_release_have_names_of_their_own(ledger: Ledger) -> None:
    charge = made_charge()
    for run in (charge.run, new_run()):
        LedgerRun(ledger, replace(charge, run=run)).spend(_ids(1), None)
    assert len({entry.token for entry in ledger.releases()}) == 2
