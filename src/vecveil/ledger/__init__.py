"""The ledger: every release on record, and a limit for each record."""

import os
import re
from pathlib import Path

from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.core.folders import data_folder
from vecveil.ledger.ledger import Charge, Ledger, LedgerEntry, RunSummary, Totals, new_run
from vecveil.ledger.session import SqliteSession

__all__ = ["POSTGRES", "Charge", "Ledger", "LedgerEntry", "RunSummary", "Totals"]
__all__ += ["default_ledger", "is_address", "new_run", "open_ledger"]

POSTGRES = ("postgresql://", "postgres://")

_ADDRESS = re.compile(r".*://|postgres(ql)?\s*:|(.*\s)?(host|hostaddr|password|dbname)\s*=", re.IGNORECASE | re.DOTALL)
"""A URL, perhaps mistyped, or PostgreSQL's other way to name a database: host=… password=…"""


def default_ledger(otherwise: str | None = None) -> str:
    """Return where $VECVEIL_LEDGER says that the ledger is, or else `otherwise`: a file in the user's data folder."""
    return os.environ.get("VECVEIL_LEDGER") or otherwise or str(data_folder() / "ledger.sqlite")


def is_address(where: str) -> bool:
    """Return whether a ledger is named by an address, which may hold a password, and not by a path."""
    return _ADDRESS.match(where) is not None


def open_ledger(where: str | Path, *, create: bool = True) -> Ledger:
    """Return the ledger at a path, or at a `postgresql://…` or `postgres://…` URL.

    Without `create`, a ledger that is not there is an InvalidInputError. One that can't be used, is damaged, has a
    newer format or is something else is an ArtifactError.
    """
    address = str(where).strip() if isinstance(where, str) else str(where)
    if address.startswith(POSTGRES):
        with needs_extra("psycopg", "postgres"):
            from vecveil.ledger.postgres import PostgresSession
        return Ledger(PostgresSession(address), create=create)
    if is_address(address):
        # As a path it would be a second ledger, with the password in its name.
        raise InvalidInputError("a ledger is a path or a postgresql:// URL, and this is neither (it is not shown)")
    return Ledger(SqliteSession(str(Path(address).expanduser()), create=create), create=create)
