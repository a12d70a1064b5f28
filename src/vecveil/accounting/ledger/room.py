"""Whether there is room left under the limit."""

from __future__ import annotations

from vecveil.accounting.ledger import statements
from vecveil.accounting.ledger.database import Session
from vecveil.core.errors import BudgetExceededError

ROUNDING = 1e-9
"""Share of the limit that sums may be off by: ten releases at 0.1 fit under a limit of 1, though they sum to more."""


def stored_limit(session: Session) -> float | None:
    """Return the most that any one record may lose, or None where that is anything."""
    found = session.rows(statements.LIMIT)
    return float(found[0][0]) if found else None


def require_room(session: Session, cost: float, limit: float) -> None:
    """Raise if releasing what is staged, at `cost` each, would bring any record over `limit`."""
    ((records, spent, total),) = session.rows(statements.OVER, cost, threshold(limit))
    if records:
        raise BudgetExceededError(records=records, cost=cost, spent=spent, total=total, limit=limit)


def threshold(limit: float) -> float:
    """Return the sum above which a limit counts as exceeded."""
    return limit * (1 + ROUNDING)
