"""A ledger in PostgreSQL, for processes on several machines. Imports psycopg."""

from collections.abc import Sequence
from typing import Any, ClassVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from vecveil.core.errors import ArtifactError
from vecveil.ledger.session import Session

WRITER_LOCK = int.from_bytes(b"vecveil\0")
"""Number of the advisory lock that writers queue for."""


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
        super().__init__(url)
        try:
            # A server that doesn't answer is given up after 10 seconds, where the URL doesn't say.
            options: Any = {"connect_timeout": 10, "fallback_application_name": "vecveil", **conninfo_to_dict(url)}
            self._connection = psycopg.connect(autocommit=True, cursor_factory=psycopg.RawCursor, **options)
        except psycopg.Error as error:
            # libpq's message can quote a part of a mistyped URL, and so a password.
            raise ArtifactError(
                f"the ledger in PostgreSQL cannot be opened ({type(error).__name__}); check host, database, user and "
                "password of its URL: signs such as @ : / ? # % are written as %40 %3A %2F %3F %23 %25 in a password"
            ) from None
        server = self._connection.info
        self.where = f"postgresql://{server.host}:{server.port}/{server.dbname}"
        self.rows("SET search_path TO vecveil")
        self.rows(f"SET lock_timeout TO '{self.PATIENCE_SECONDS}s'")
        # A crash must not forget a release that is written somewhere else.
        lasting = "SELECT set_config('synchronous_commit', 'on', false)"
        self.rows(f"{lasting} WHERE current_setting('synchronous_commit') = 'off'")

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
