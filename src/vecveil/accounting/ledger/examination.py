"""Whether a ledger is whole, and kept its own limit."""

from __future__ import annotations

from vecveil.accounting.ledger import statements
from vecveil.accounting.ledger.charge import UNIT
from vecveil.accounting.ledger.database import Session
from vecveil.accounting.ledger.room import stored_limit, threshold


def problems_of(session: Session) -> list[str]:
    """Return what is wrong, in words."""
    damage = session.damage()
    # What a damaged database answers is worth nothing.
    return damage or [*_gaps(session), *_orphans(session), *_overdrawn(session)]


def _gaps(session: Session) -> list[str]:
    return [
        f"run {run} has {rows:,} rows on record, numbered from {first:,} to {last:,}: some are missing"
        for run, rows, first, last in session.rows(statements.GAPS)
    ]


def _orphans(session: Session) -> list[str]:
    ((rows,),) = session.rows(statements.ORPHANS)
    return [f"{rows:,} releases belong to a run that is not on record"] if rows else []


def _overdrawn(session: Session) -> list[str]:
    limit = stored_limit(session)
    if limit is None:
        return []
    ((records, highest),) = session.rows(statements.OVERDRAWN, threshold(limit))
    if not records:
        return []
    over = f"{records:,} record{'' if records == 1 else 's'} over the limit of {limit:.6g} {UNIT}"
    return [f"{over}; the highest has spent {highest:.6g}"]
