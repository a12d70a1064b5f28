"""A connection to PostgreSQL, with errors in words, and without what they quote. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors
from psycopg import sql as pieces

from vecveil.core.errors import ArtifactError

Statement = pieces.SQL | pieces.Composed

_WORDS: dict[type[psycopg.Error], str] = {
    errors.InsufficientPrivilege: "this user may not do that there",
    errors.ReadOnlySqlTransaction: "it may not be written",
    errors.DiskFull: "its disk is full",
    errors.DuplicateTable: "there is a table of that name already",
    errors.CheckViolation: "a check of the table forbids rows without what is left out",
    errors.UndefinedTable: "a table is missing",
}


@dataclass(frozen=True)
class TableName:
    """A table as a user names it.

    Attributes:
        name: `table` or `schema.table`.
    """

    name: str

    @property
    def parts(self) -> list[str]:
        """The schema, if it is named, and the table."""
        return self.name.split(".", 1)

    @property
    def sql(self) -> pieces.Identifier:
        """The name as a piece of SQL."""
        return pieces.Identifier(*self.parts)

    @property
    def last(self) -> pieces.Identifier:
        """The name without its schema."""
        return pieces.Identifier(self.parts[-1])

    @property
    def quoted(self) -> str:
        """The name as PostgreSQL reads it."""
        return self.sql.as_string()


class Database:
    """Runs statements, each by itself unless they stand in a `together` block.

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

    def tables(self) -> list[str]:
        """Return the names of all tables that need no schema before them."""
        query = (
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid) "
            "AND relnamespace <> 'pg_catalog'::regnamespace"
        )
        return [name for (name,) in self.rows(pieces.SQL(query))]

    def rows(self, statement: Statement, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with _in_words():
            cursor = self._connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def many(self, statement: Statement, values: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row of values, all or none."""
        with _in_words(), self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.executemany(statement, values)

    def rename(self, old: TableName, new: TableName) -> None:
        """Give a table another name in its schema."""
        self.rows(pieces.SQL("ALTER TABLE {} RENAME TO {}").format(old.sql, new.last))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run the statements of a block all or none."""
        with self._connection.transaction():
            yield

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        # Its own message quotes values.
        reason = next((words for kind, words in _WORDS.items() if isinstance(error, kind)), "PostgreSQL failed")
        raise ArtifactError(f"{reason} ({type(error).__name__})") from None
