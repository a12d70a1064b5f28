"""One connection to a ledger in an SQLite file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from vecveil.accounting.ledger import database
from vecveil.accounting.ledger.founding import not_a_ledger
from vecveil.accounting.ledger.sqlite_errors import plain_errors
from vecveil.accounting.ledger.statements import BALANCES

MARK = int.from_bytes(b"vvlg")
"""What SQLite calls an application's id, at a fixed place in the file: tells a ledger from any other database."""

CACHE_KIB, CHECKPOINT_PAGES = 32_768, 16_384
"""As much again goes into each sort; few and large checkpoints write its pages less often."""

TABLES = (
    f"PRAGMA application_id = {MARK}",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """
    CREATE TABLE runs (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, veil TEXT NOT NULL,
      mechanism TEXT NOT NULL, epsilon REAL, distance TEXT, cost REAL, noise TEXT NOT NULL, started INTEGER NOT NULL
    )
    """,
    """
    CREATE TABLE releases (
      run INTEGER NOT NULL, place INTEGER NOT NULL, record BLOB NOT NULL, token BLOB NOT NULL, at INTEGER NOT NULL,
      PRIMARY KEY (run, place)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX releases_of_record ON releases (record, token, run)",
    BALANCES,
)


class SqliteSession:
    """A connection; `Session` says what each method promises."""

    lost = False

    def __init__(self, path: Path) -> None:
        self._path = path
        # Whoever may use a session at a time is the book's business, not that of the thread that opened it.
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=database.PATIENCE_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        # A crash, even of the machine, must not forget a release that is written somewhere else.
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")

    def is_founded(self) -> bool:
        """Return whether there are tables of ours; if so, ready the file for readers that don't wait for writers."""
        # In this order: tables and mark come in one transaction, which another process may be about to end.
        if not self.rows("SELECT 1 FROM sqlite_master"):
            return False
        if self.rows("PRAGMA application_id") != [(MARK,)]:
            raise not_a_ledger(str(self._path))
        with plain_errors(self._path):
            self._write_ahead()
        return True

    def found(self, entries: Mapping[str, str]) -> None:
        """Make the tables, before the file is switched to WAL, so that the mark is in its first bytes from now on."""
        with self.transaction():
            if not self.rows("SELECT 1 FROM sqlite_master"):
                for statement in TABLES:
                    self.rows(statement)
                for key, value in entries.items():
                    self.rows("INSERT INTO meta (key, value) VALUES ($1, $2)", key, value)

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with plain_errors(self._path):
            return self._connection.execute(statement, _named(values)).fetchall()

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement."""
        with plain_errors(self._path):
            yield from self._connection.execute(statement)

    def clear(self) -> None:
        """Empty the table `staged`."""
        self.rows("CREATE TEMP TABLE IF NOT EXISTS staged (place INTEGER, record BLOB, token BLOB)")
        self.rows("DELETE FROM staged")

    def stage(self, first_place: int, records: Sequence[bytes], tokens: Sequence[bytes]) -> None:
        """Add rows to the table `staged`, which lies in a file of its own and locks nothing."""
        with plain_errors(self._path), self._connection:
            self._connection.execute("BEGIN")
            rows = zip(count(first_place), records, tokens, strict=False)
            self._connection.executemany("INSERT INTO staged VALUES (?, ?, ?)", rows)

    def count_staged(self) -> None:
        """Do nothing: SQLite takes the same way for any number of rows."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the ledger against all other writers."""
        with plain_errors(self._path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def damage(self) -> list[str]:
        """Return what SQLite's own check finds."""
        found = [row[0] for row in self.rows("PRAGMA integrity_check")]
        return [] if found == ["ok"] else [f"SQLite finds damage: {line}" for line in found]

    def close(self) -> None:
        """Give the connection back."""
        with plain_errors(self._path):
            self._connection.close()

    def _write_ahead(self) -> None:
        deadline = time.monotonic() + database.PATIENCE_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                # SQLite doesn't wait its turn for this, so processes that make a ledger together would fail.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return


def _named(values: tuple[object, ...]) -> dict[str, object]:
    return {str(number): value for number, value in enumerate(values, start=1)}
