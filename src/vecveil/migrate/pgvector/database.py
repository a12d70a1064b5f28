"""A connection to PostgreSQL, and names in it. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Self

import psycopg
from psycopg import errors, sql
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.string import TextLoader

from vecveil.core.errors import ArtifactError

_SECTIONS = files("vecveil.migrate.pgvector").joinpath("queries.sql").read_text(encoding="utf-8").split("-- name: ")
QUERIES = {name: text.strip() for name, _, text in (section.partition("\n") for section in _SECTIONS[1:])}
"""The queries of `queries.sql`, by name."""

DATES = ("date", "time", "timetz", "timestamp", "timestamptz", "interval")
LOCK_SECONDS = 3.0  # How long to wait until others let go of a table.

_REASONS: dict[type[psycopg.Error], str] = {
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


@dataclass(frozen=True)
class TableName:
    """The name of a table, in a schema; None where the search path decides."""

    schema: str | None
    table: str

    @classmethod
    def parse(cls, name: str, schema: str | None = None) -> Self:
        """Return what a user means by `table`, which is in `schema`, or by `schema.table`."""
        first, dot, last = name.partition(".")
        return cls(first, last) if dot else cls(schema, name)

    @property
    def sql(self) -> sql.Identifier:
        """The name as a piece of a statement."""
        return sql.Identifier(*([self.schema] if self.schema else []), self.table)

    @property
    def quoted(self) -> str:
        """The name as PostgreSQL reads it in a value."""
        return self.sql.as_string()


class Database:
    """Runs statements at a URL, each by itself unless they are in a `transaction` block."""

    def __init__(self, url: str) -> None:
        try:
            self._connection = psycopg.connect(url, autocommit=True)
        except psycopg.Error as error:
            # The original message may quote a part of the URL, and that a password.
            name = type(error).__name__
            raise ArtifactError(f"the database cannot be opened; check address, user and password ({name})") from None
        for kind in DATES:
            self._connection.adapters.register_loader(kind, _AnyDate)

    def run(self, name: str, **values: object) -> list[tuple[Any, ...]]:
        """Run a statement of `queries.sql`, filled in with values, and return its rows."""
        with self._hide_values():
            # Without parameters of its own, psycopg leaves percent signs in names and values alone.
            cursor = self._connection.execute(fill_in(name, **values))
            return cursor.fetchall() if cursor.description else []

    def run_generated(self, name: str, **values: object) -> None:
        """Run the statements that a query of `queries.sql` returns, in its order."""
        for (statement,) in self.run(name, **values):
            with self._hide_values():
                self._connection.execute(sql.SQL(statement))

    def rename(self, old: TableName, new: TableName) -> None:
        """Give a table another name in its schema."""
        self.run("rename", kind=sql.SQL("TABLE"), old=old, new=sql.Identifier(new.table))

    @contextmanager
    def transaction(self, *, locking: bool = False) -> Iterator[None]:
        """Run the statements of a block all or none; those that need to lock a table wait for it only so long."""
        with self._hide_values(), self._connection.transaction():
            if locking:
                # Others wait behind them.
                self.run("lock_timeout", milliseconds=f"{LOCK_SECONDS * 1000:.0f}")
            yield

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    @contextmanager
    def _hide_values(self) -> Iterator[None]:
        """Turn errors of PostgreSQL, which quote values, into ones that name what they are about."""
        try:
            yield
        except psycopg.Error as error:
            known = next((words for kind, words in _REASONS.items() if isinstance(error, kind)), "PostgreSQL failed")
            reason = _LOST if self._connection.closed else known
            about = filter(None, (error.diag.table_name, error.diag.column_name, error.diag.constraint_name))
            raise ArtifactError(f"{reason} ({', '.join([type(error).__name__, *about])})") from None


class _AnyDate(Loader):
    """Reads dates as psycopg does, and those that Python has no value for, such as infinity, as they are written."""

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        self._usual = (psycopg.adapters.get_loader(oid, Format.TEXT) or TextLoader)(oid, context)

    def load(self, data: Buffer) -> Any:
        try:
            return self._usual.load(data)
        except (psycopg.DataError, NotImplementedError):
            return bytes(data).decode()


def fill_in(name: str, **values: object) -> sql.Composed:
    """Return a statement of `queries.sql` with pieces of SQL, names of tables, or values for the names in braces."""
    return sql.SQL(QUERIES[name]).format(**{name: _to_sql(value) for name, value in values.items()})


def _to_sql(value: object) -> sql.Composable:
    if isinstance(value, TableName):
        return value.sql
    return value if isinstance(value, sql.Composable) else sql.Literal(value)
