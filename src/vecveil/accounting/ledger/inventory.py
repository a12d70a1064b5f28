"""Reading a ledger: its runs, its sums, and every release."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from vecveil.accounting.ledger import statements
from vecveil.accounting.ledger.charge import Charge
from vecveil.accounting.ledger.database import Session
from vecveil.accounting.ledger.entries import Release, RunSummary, Totals


def runs_of(session: Session) -> list[RunSummary]:
    """Return all runs, the oldest first."""
    return [
        RunSummary(charge=_charge(charge), started=_moment(started), releases=releases, records=records)
        for *charge, started, releases, records in session.rows(statements.RUNS)
    ]


def totals_of(session: Session) -> Totals:
    """Return the sums over all runs."""
    ((releases,),) = session.rows(statements.COUNT)
    ((records, highest),) = session.rows(statements.HIGHEST)
    return Totals(releases=releases, records=records, highest=highest)


def releases_of(session: Session) -> Iterator[Release]:
    """Yield every release, run by run and row by row."""
    charge: Charge | None = None
    for *columns, place, record, token, at in session.stream(statements.RELEASES):
        if charge is None or charge.run != columns[0]:
            charge = _charge(columns)
        yield Release(charge=charge, row=place, record=record, token=token, at=_moment(at))


def _charge(columns: list[Any]) -> Charge:
    run, kind, veil, mechanism, epsilon, distance, cost, noise = columns
    return Charge(
        run=run,
        kind=kind,
        veil=veil,
        mechanism=mechanism,
        epsilon=epsilon,
        distance=distance,
        cost=cost,
        noise=noise,
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)
