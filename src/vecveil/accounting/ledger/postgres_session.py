"""One connection to a ledger in PostgreSQL. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg

from vecveil.accounting.ledger import database
from vecveil.accounting.ledger.founding import not_a_ledger
from vecveil.accounting.ledger.postgres_errors import plain_errors
from vecveil.accounting.ledger.statements import BALANCES

TURN = int.from_bytes(b"vecveil\0")
"""Number of the advisory lock that writers queue for."""

STREAMED_ROWS = 10_000
"""Rows that the server sends at a time."""

SETTINGS = (
    "SET search_path TO vecveil",
    # A crash must not forget a release that is written somewhere else.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
)

TABLES = (
    "CREATE SCHEMA IF NOT EXISTS vecveil",
    "CREATE TABLE meta (key text PRIMARY KEY, value text NOT NULL)",
    """
    CREATE TABLE runs (
      number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, kind text NOT NULL,
      veil text NOT NULL, mechanism text NOT NULL, epsilon double precision, distance text, cost double precision,
      noise text NOT NULL, started bigint NOT NULL
    )
    """,
    """
    CREATE TABLE releases (
      run integer NOT NULL, place bigint NOT NULL, record bytea NOT NULL, token bytea NOT NULL, at bigint NOT NULL,
      PRIMARY KEY (run, place)
    )
    """,
    "CREATE INDEX releases_of_record ON releases (record, token, run)",
    BALANCES,
)


class PostgresSession:
    """A connection; `Session` says what each method promises."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], where: str) -> None:
        self._connection = connection
        self._where = where
        for statement in SETTINGS:
            self.rows(statement)
        self.rows("SELECT set_config('lock_timeout', $1, false)", f"{database.PATIENCE_SECONDS * 1000:.0f}ms")

    @property
    def lost(self) -> bool:
        """Whether the connection broke."""
        return self._connection.closed

    def is_founded(self) -> bool:
        """Return whether there is a schema with our tables; raise if it has others."""
        found = {name for (name,) in self.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'vecveil'")}
        if found and not {"meta", "runs", "releases"} <= found:
            raise not_a_ledger(f"the schema vecveil in {self._where}")
        return bool(found)

    def found(self, entries: Mapping[str, str]) -> None:
        """Make schema and tables."""
        with self.transaction():
            if not self.is_founded():
                for statement in TABLES:
                    self.rows(statement)
                for key, value in entries.items():
                    self.rows("INSERT INTO meta (key, value) VALUES ($1, $2)", key, value)

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with plain_errors(self._where):
            cursor = self._connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement, from a cursor on the server."""
        with (
            plain_errors(self._where),
            self._connection.transaction(),
            psycopg.RawServerCursor(self._connection, "streamed") as cursor,
        ):
            cursor.itersize = STREAMED_ROWS
            cursor.execute(statement)
            yield from cursor

    def clear(self) -> None:
        """Empty the table `staged`."""
        self.rows("CREATE TEMP TABLE IF NOT EXISTS staged (place bigint, record bytea, token bytea)")
        self.rows("TRUNCATE staged")

    def stage(self, first_place: int, records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Add rows to the table `staged`, in bulk."""
        with (
            plain_errors(self._where),
            self._connection.cursor() as cursor,
            cursor.copy("COPY staged (place, record, token) FROM STDIN (FORMAT binary)") as copy,
        ):
            copy.set_types(["int8", "bytea", "bytea"])
            for row in zip(count(first_place), records, tokens, strict=False):
                copy.write_row(row)

    def count_staged(self) -> None:
        """Gather statistics, without which PostgreSQL takes any number of rows for a few."""
        self.rows("ANALYZE staged")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the ledger against all other writers; readers don't wait."""
        with plain_errors(self._where), self._connection.transaction():
            self.rows("SELECT pg_advisory_xact_lock($1)", TURN)
            # A batch is small and the ledger large. While PostgreSQL has no statistics of a new ledger it thinks
            # otherwise, and would read all of it for every batch.
            self.rows("SET LOCAL enable_hashjoin TO off")
            self.rows("SET LOCAL enable_mergejoin TO off")
            yield

    def damage(self) -> list[str]:
        """Return nothing: PostgreSQL looks after its own files, and says so where a page is broken."""
        return []

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()
