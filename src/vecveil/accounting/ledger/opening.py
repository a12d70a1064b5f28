"""Opening a ledger by its path or its URL."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vecveil.accounting.ledger.book import Book
from vecveil.accounting.ledger.database import Database
from vecveil.accounting.ledger.ledger import Ledger
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.folders import data_folder

VARIABLE = "VECVEIL_LEDGER"
"""Environment variable that names the ledger, a path or a URL."""

_MEANT_AS_ADDRESS = re.compile(r"postgres(ql)?\s*:|(.*\s)?(host|hostaddr|password|dbname)\s*=", re.IGNORECASE)
"""A URL with a slip in it, or the other way of PostgreSQL to name a database: host=… password=…"""


def default_ledger() -> str:
    """Return where the ledger lies unless another is named: $VECVEIL_LEDGER, or a file in the user's data folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    return str(data_folder() / "ledger.sqlite")


def is_address(where: str) -> bool:
    """Return whether a ledger is named by an address, which may hold a password, and not by a path."""
    return "://" in where or _MEANT_AS_ADDRESS.match(where) is not None


def open_ledger(where: str | Path, *, create: bool = True) -> Ledger:
    """Return the ledger at a path, or at a URL of PostgreSQL.

    Args:
        where: `postgresql://…`, `postgres://…`, or a path.
        create: Whether to make it where there is none; that is an InvalidInputError otherwise.

    Raises:
        ArtifactError: If it can't be used, is damaged, is something else, or has a format from the future.
    """
    return Book(_database(where), create=create)


def _database(where: str | Path) -> Database:
    where = where.strip() if isinstance(where, str) else where
    scheme = re.match(r"([\w+.-]+)://", str(where)) if isinstance(where, str) else None
    if scheme is None:
        if _MEANT_AS_ADDRESS.match(str(where)):
            # As a path it would be a ledger of its own, beside the one that was meant, with a password in its name.
            raise InvalidInputError(
                "a ledger in PostgreSQL is named by a URL that starts with postgresql:// (what was given is not shown, "
                "since it may hold a password)"
            )
        from vecveil.accounting.ledger.sqlite import SqliteDatabase

        return SqliteDatabase(path=Path(where).expanduser())
    if scheme[1] not in {"postgresql", "postgres"}:
        # The rest of a URL may hold a password.
        raise InvalidInputError(f"a ledger is a path or a postgresql:// URL, got one that starts with {scheme[0]!r}")
    try:
        from vecveil.accounting.ledger.postgres import PostgresDatabase
    except ImportError:
        raise MissingExtraError("psycopg", "postgres") from None
    return PostgresDatabase(url=str(where))
