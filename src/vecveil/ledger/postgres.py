"""A ledger in PostgreSQL, for processes on several machines. Imports psycopg."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.ledger.session import NOT_A_LEDGER, Session

WRITER_LOCK = int.from_bytes(b"vecveil\0")
"""Number of the advisory lock that writers queue for."""

# Only known causes are told, in our words: libpq's messages can quote a part of a mistyped URL, and so a password.
_CAUSES = {
    "password authentication failed": "it does not accept user and password",
    "no password supplied": "it asks for a password",
    "no pg_hba.conf entry": "it does not let this user in from here",
    "does not exist": "it has no such user or database",
    "refused": "nothing listens there",
    "No such file": "nothing listens there",
    "host name": "there is no such host",
    "resolve host": "there is no such host",
    "timeout": "it does not answer",
    "the database system is starting up": "it is starting; try again",
    "too many": "it has no connection left",
}


class PostgresSession(Session):
    """A connection to the schema `vecveil` of the database at a URL, which may hold a password and is never shown."""

    TYPES: ClassVar = {"number": "integer GENERATED ALWAYS AS IDENTITY", "blob": "bytea", "options": ""}
    MARK = "CREATE SCHEMA IF NOT EXISTS vecveil"
    TABLE_NAMES = "SELECT tablename FROM pg_tables WHERE schemaname = 'vecveil'"
    # A batch is small and the ledger large. PostgreSQL expects the opposite while it has no statistics of a new ledger,
    # and would read all of it for every batch.
    LOCK = (
        "BEGIN",
        f"SELECT pg_advisory_xact_lock({WRITER_LOCK})",
        "SET LOCAL enable_hashjoin TO off",
        "SET LOCAL enable_mergejoin TO off",
    )
    FIND_DAMAGE = "SELECT '' WHERE false"  # PostgreSQL checks its files by itself.
    PLACEHOLDER = "$"
    ERRORS = psycopg.Error

    def __init__(self, url: str) -> None:
        super().__init__(url, where=redact_url(url))
        # A server that doesn't answer is given up after 10 seconds, where the URL doesn't say.
        options = {"connect_timeout": 10, "fallback_application_name": "vecveil", **_parse_url(url)}
        try:
            self._connection = psycopg.connect(autocommit=True, cursor_factory=psycopg.RawCursor, **options)
        except psycopg.Error as error:
            cause = next((cause for words, cause in _CAUSES.items() if words in str(error)), "it cannot be reached")
            raise ArtifactError(f"the ledger {self.where} cannot be opened: {cause}") from None
        self.rows("SET search_path TO vecveil")
        self.rows(f"SET lock_timeout TO '{self.PATIENCE_SECONDS}s'")
        # A crash must not forget a release that is written somewhere else.
        if self.rows("SHOW synchronous_commit") == [("off",)]:
            self.rows("SET synchronous_commit TO on")

    def attach(self) -> bool:
        """Look for the tables."""
        names = {name for (name,) in self.rows(self.TABLE_NAMES)}
        if names and not {"meta", "runs", "releases"} <= names:
            raise ArtifactError(NOT_A_LEDGER.format(f"the schema vecveil in {self.where}"))
        return bool(names)

    def stage(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows to the table `staged`, in bulk."""
        bulk = "COPY staged (place, record, token, vector, words) FROM STDIN (FORMAT binary)"
        with self.plain_errors(), self._connection.cursor() as cursor, cursor.copy(bulk) as copy:
            copy.set_types(["int8", "bytea", "bytea", "bytea", "int8"])
            for row in rows:
                copy.write_row(row)

    def explain(self, error: psycopg.Error) -> str:
        """Return what is wrong, with PostgreSQL's own words where they are clear."""
        reason = error.diag.message_primary or "PostgreSQL failed"
        if self.lost:
            reason = "the connection broke; repeat what you did, which records nothing twice"
        elif isinstance(error, psycopg.errors.LockNotAvailable):
            reason = "another process has held it for too long; try again"
        return f"cannot be used: {reason} ({type(error).__name__})"


def redact_url(url: str) -> str:
    """Return host, port and database of a URL.

    A password with an unescaped sign is read as a host, a port or a database, in part. So all is hidden as soon as an @
    is where it should not be, or a part has a sign that it should not have.
    """
    signs = {"user": r"[\w.-]*", "host": r"[\w.,:/-]*", "port": r"[\d,]*", "dbname": r"[\w.-]*"}
    parts = {name: str(_parse_url(url).get(name) or "") for name in signs}
    plain = all(re.fullmatch(signs[name], part) for name, part in parts.items())
    if not plain or not re.fullmatch(r"\w+://([^@/?#]*@)?[^@]*", url):
        return "postgresql://…"
    port = f":{parts['port']}" if parts["port"] else ""
    return f"postgresql://{parts['host']}{port}/{parts['dbname']}"


def _parse_url(url: str) -> dict[str, Any]:
    try:
        return dict(conninfo_to_dict(url))
    except psycopg.Error:
        # The original message quotes the URL.
        raise InvalidInputError(
            "the URL of the ledger cannot be read (it is not shown, since it may hold a password); in a password, "
            "signs such as @ : / ? # % are written as %40 %3A %2F %3F %23 %25"
        ) from None
