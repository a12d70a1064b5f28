"""Writing down runs and releases, inside a transaction that holds the ledger."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import astuple, fields

from vecveil.accounting.ledger import statements
from vecveil.accounting.ledger.charge import Charge
from vecveil.accounting.ledger.database import Session
from vecveil.accounting.ledger.room import require_room, stored_limit
from vecveil.core.errors import InvalidInputError

DIGEST_BYTES = 16


def record_run(session: Session, charge: Charge) -> None:
    """Put a run on record, unless it is."""
    if _number(session, charge) is None:
        session.rows(statements.BEGIN_RUN, *astuple(charge), int(time.time()))


def record_staged(session: Session, charge: Charge) -> None:
    """Put what is staged on record, or raise if it may not be released."""
    number = _number(session, charge)
    if number is None:
        raise InvalidInputError(f"run {charge.run} is not on record; begin it first")
    ((clashes, first),) = session.rows(statements.OTHERWISE_RECORDED, number)
    if clashes:
        raise InvalidInputError(
            f"run {charge.run} has {clashes:,} of these rows on record with another record or other noise, first row "
            f"{first:,}; start a new run"
        )
    limit = stored_limit(session)
    if limit is not None and charge.cost is not None:
        require_room(session, charge.cost, limit)
    session.rows(statements.RECORD, number, int(time.time()))


def require_digests(records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
    """Raise unless there is one token per record, and all are digests."""
    if len(records) != len(tokens):
        raise InvalidInputError(f"there must be one token per record, got {len(tokens)} for {len(records)} records")
    for name, values in (("record", records), ("token", tokens)):
        for row, value in enumerate(values):
            if not isinstance(value, bytes) or len(value) != DIGEST_BYTES:
                raise InvalidInputError(f"a {name} must be {DIGEST_BYTES} bytes, as a digest is; row {row} is not")


def _number(session: Session, charge: Charge) -> int | None:
    """Return the number of the charge's run, None if there is none, or raise if it is on record otherwise."""
    found = session.rows(statements.RUN, charge.run)
    if not found:
        return None
    ((number, *recorded),) = found
    pairs = zip(fields(charge), recorded, astuple(charge), strict=True)
    differing = [field.name for field, old, new in pairs if old != new]
    if differing:
        raise InvalidInputError(f"run {charge.run} is on record with another {', '.join(differing)}; start a new run")
    return int(number)
