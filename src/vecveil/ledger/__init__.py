"""The ledger: every release on record, and a limit for each record."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.folders import data_folder
from vecveil.ledger.entries import Charge, LedgerEntry, RunSummary, Totals, new_run
from vecveil.ledger.ledger import Ledger

__all__ = ["Charge", "Ledger", "LedgerEntry", "RunSummary", "Totals"]
__all__ += ["default_ledger", "is_address", "new_run", "open_ledger"]

_POSTGRES_ADDRESS = re.compile(r"postgres(ql)?\s*:|(.*\s)?(host|hostaddr|password|dbname)\s*=", re.IGNORECASE)
"""A URL, perhaps mistyped, or PostgreSQL's other way to name a database: host=… password=…"""


def default_ledger() -> str:
    """Return where the ledger is unless another is named: $VECVEIL_LEDGER, or a file in the user's data folder."""
    return os.environ.get("VECVEIL_LEDGER") or str(data_folder() / "ledger.sqlite")


def is_address(where: str) -> bool:
    """Return whether a ledger is named by an address, which may hold a password, and not by a path."""
    return "://" in where or _POSTGRES_ADDRESS.match(where) is not None


def open_ledger(where: str | Path, *, create: bool = True) -> Ledger:
    """Return the ledger at a path, or at a `postgresql://…` or `postgres://…` URL.

    Without `create`, a ledger that is not there is an InvalidInputError. One that can't be used, is damaged, has a
    newer format or is something else is an ArtifactError.
    """
    address = where.strip() if isinstance(where, str) else str(where)
    scheme = re.match(r"([\w+.-]+)://", address)
    if scheme and scheme[1] in {"postgresql", "postgres"}:
        try:
            from vecveil.ledger.postgres import PostgresSession
        except ImportError:
            raise MissingExtraError("psycopg", "postgres") from None
        return Ledger(PostgresSession(address), create=create)
    # An address may hold a password. As a path it would be a second ledger, with the password in its name.
    if scheme:
        raise InvalidInputError(f"a ledger is a path or a postgresql:// URL, got one that starts with {scheme[0]!r}")
    if _POSTGRES_ADDRESS.match(address):
        raise InvalidInputError("name a ledger in PostgreSQL by a URL that starts with postgresql:// (it is not shown)")
    from vecveil.ledger.sqlite import SqliteSession

    return Ledger(SqliteSession(str(Path(address).expanduser()), create=create), create=create)
