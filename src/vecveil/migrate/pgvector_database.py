"""A connection to PostgreSQL, with errors in words, and without what they quote. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg import sql as pieces
from psycopg.rows import class_row

from vecveil.core.errors import ArtifactError
from vecveil.migrate.pgvector_dates import read_any_date
from vecveil.migrate.pgvector_name import TableName

Statement = pieces.SQL | pieces.Composed
Record = TypeVar("Record")

LOCK_SECONDS = 3.0
"""How long to wait until others let go of a table."""

_WORDS: dict[type[psycopg.Error], str] = {
    errors.InsufficientPrivilege: "this user may not do that there",
    errors.ReadOnlySqlTransaction: "it may not be written",
    errors.DiskFull: "its disk is full",
    errors.DuplicateTable: "there is a table of that name already",
    errors.CheckViolation: "a check of the table forbids rows without what is left out",
    errors.NotNullViolation: "the table forbids rows without what is left out",
    errors.UniqueViolation: "without what is left out, rows are no longer told apart as the table demands",
    errors.UndefinedTable: "a table is missing",
    errors.LockNotAvailable: "others are using the table, and have not let go of it in time; try again",
    errors.DeadlockDetected: "others are using the table, and wait for it too; try again",
    errors.DependentObjectsStillExist: "something else depends on the table",
}
_LOST = "the connection to the database was lost; what was being done is done as a whole or not at all; repeat it"


class Database:
    """Runs statements, each by itself unless they stand in a `together` block.

    A percent sign stands twice in a statement, or begins the place of a value.

    Args:
        url: Where it is; not shown in any error, as it may hold a password.
    """

    def __init__(self, url: str) -> None:
        try:
            self._connection = psycopg.connect(url, autocommit=True)
        except psycopg.Error as error:
            # The original message may quote a part of the URL.
            name = type(error).__name__
            raise ArtifactError(f"the database cannot be opened; check address, user and password ({name})") from None
        read_any_date(self._connection)

    def tables(self) -> list[str]:
        """Return the names of all tables that need no schema before them."""
        query = (
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid) "
            "AND relnamespace <> 'pg_catalog'::regnamespace"
        )
        return [name for (name,) in self.rows(pieces.SQL(query))]

    def rows(self, statement: Statement, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self._in_words():
            cursor = self._connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def records(self, kind: type[Record], statement: Statement, *values: object) -> list[Record]:
        """Run a statement and return its rows as records, whose fields are its columns."""
        with self._in_words(), self._connection.cursor(row_factory=class_row(kind)) as cursor:
            return cursor.execute(statement, values).fetchall()

    def many(self, statement: Statement, values: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row of values, all or none."""
        with self._in_words(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(statement, values)

    def run_written(self, statement: Statement, *values: object) -> None:
        """Run the statements that a query writes, in its order."""
        for (text,) in self.rows(statement, *values):
            with self._in_words():
                self._connection.execute(pieces.SQL(text))

    def rename(self, old: TableName, new: TableName) -> None:
        """Give a table another name in its schema."""
        self.rows(pieces.SQL("ALTER TABLE {} RENAME TO {}").format(old.sql, TableName(None, new.table).sql))

    @contextmanager
    def together(self, *, locking: bool = False) -> Iterator[None]:
        """Run the statements of a block all or none.

        Args:
            locking: Whether they need a table for themselves. They wait for it only so long: others wait behind them.
        """
        with self._in_words(), self._connection.transaction():
            if locking:
                self.rows(pieces.SQL("SELECT set_config('lock_timeout', %s, true)"), f"{LOCK_SECONDS * 1000:.0f}")
            yield

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            # Its own message quotes values; the names of what it is about are told.
            known = next((words for kind, words in _WORDS.items() if isinstance(error, kind)), "PostgreSQL failed")
            reason = _LOST if self._connection.closed else known
            about = filter(None, (error.diag.table_name, error.diag.column_name, error.diag.constraint_name))
            raise ArtifactError(f"{reason} ({', '.join([type(error).__name__, *about])})") from None
