"""Several processes at once, and processes that die, on every database."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from support.ledgers import made_charge, names, outputs, read_spent, start_python
from support.postgres import PostgresServer
from vecveil.ledger import Ledger, new_run, open_ledger

WRITERS = 6

# Each waits for a line before it starts, so that all start together.
RELEASE = """
from support.ledgers import fresh, made_charge, names
from vecveil.ledger import open_ledger
from vecveil.core.errors import BudgetExceededError
with open_ledger(sys.argv[1]) as ledger:
    print("ready", flush=True)
    sys.stdin.readline()
    charge = made_charge(cost=3.0)
    try:
        ledger.spend(charge, 0, names(1, 2), fresh(2))
        print("released")
    except BudgetExceededError:
        print("refused")
"""

OPEN = """
from vecveil.ledger import open_ledger
print("ready", flush=True)
sys.stdin.readline()
with open_ledger(sys.argv[1]) as ledger:
    print(ledger.id)
"""

SPEND = """
from support.ledgers import made_charge, names
from vecveil.ledger import open_ledger
charge = made_charge(run=sys.argv[2])
with open_ledger(sys.argv[1]) as ledger:
    for row in range(0, 1_000_000, 50):
        places = range(row, row + 50)
        ledger.spend(charge, row, names(*places), names(*places, kind="fresh"))
        print(row, flush=True)
"""


@pytest.fixture(params=["sqlite", "postgres"])
def ledger_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for a ledger, in each database."""
    if request.param == "sqlite":
        return str(tmp_path / "books" / "ledger.sqlite")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.without_ledger()


def _together(program: str, place: str) -> list[str]:
    processes = [start_python(program, place) for _ in range(WRITERS)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return outputs(processes)


def test_processes_that_make_a_ledger_together_make_one(ledger_place: str) -> None:
    assert len(set(_together(OPEN, ledger_place))) == 1


def test_writers_together_never_exceed_the_limit(ledger_place: str) -> None:
    with open_ledger(ledger_place) as ledger:
        ledger.set_limit(10.0)
        said = _together(RELEASE, ledger_place)
        assert sorted(said) == ["refused"] * (WRITERS - 3) + ["released"] * 3
        assert read_spent(ledger, names(1, 2, 3)) == [9.0, 9.0, 0.0]
        assert sorted(run.releases for run in ledger.runs()) == [2] * 3
        assert ledger.problems() == []


def _resume(ledger: Ledger, run: str, rows: int) -> None:
    charge = made_charge(run=run)
    records, tokens = names(*range(rows)), names(*range(rows), kind="fresh")
    ledger.require(charge, [(records, tokens)])
    for row in range(0, rows, 700):
        ledger.spend(charge, row, records[row : row + 700], tokens[row : row + 700])


def test_a_writer_that_is_killed_loses_no_batch_and_leaves_none_by_halves(ledger_place: str) -> None:
    with open_ledger(ledger_place) as ledger:
        ledger.set_limit(1.0)
        run = new_run()
        for milliseconds in (120, 163, 211):
            process = start_python(SPEND, ledger_place, run)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(milliseconds / 1000)
            process.send_signal(signal.SIGKILL)
            acknowledged = process.communicate()[0].split()
            (summary,) = ledger.runs()
            # At most the batch that was being recorded is there without having been acknowledged.
            assert summary.releases % 50 == 0
            assert summary.releases >= (int(acknowledged[-1]) + 50 if acknowledged else 50)
            assert ledger.problems() == []
        rows = summary.releases + 1234
        _resume(ledger, run, rows)
        assert [release.row for release in ledger.releases()] == list(range(rows))
        assert ledger.totals().highest == 1.0
        assert ledger.problems() == []
