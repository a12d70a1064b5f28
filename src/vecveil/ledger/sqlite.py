"""A ledger in an SQLite file, for all processes of a machine."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.ledger.session import MISSING, NOT_A_LEDGER, Session

APPLICATION = int.from_bytes(b"vvlg")
"""SQLite's application id, at a fixed place in the file: tells a ledger from any other database."""

_CONNECTING = Lock()
"""Held while a file is created: closing it drops all locks of this process on it, so no session may open meanwhile."""


class SqliteSession(Session):
    """A connection to a file, which only its owner can read; SQLite keeps two more beside it while it is open."""

    TYPES: ClassVar = {"number": "INTEGER", "blob": "BLOB", "options": "WITHOUT ROWID"}
    MARK = f"PRAGMA application_id = {APPLICATION}"
    TABLE_NAMES = "SELECT name FROM sqlite_master"
    LOCK = ("BEGIN IMMEDIATE",)
    FIND_DAMAGE = "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"
    PLACEHOLDER = "?"
    ERRORS = sqlite3.Error

    def __init__(self, address: str, *, create: bool = False) -> None:
        super().__init__(address)
        with _CONNECTING, self.plain_errors():
            try:
                _prepare_file(Path(address), create=create)
            except OSError as error:
                raise ArtifactError(f"the ledger {address} cannot be used: {error.strerror or error}") from None
            self._connection = _connect(Path(address), "mode=rw")
        # A crash, even of the machine, must not forget a release that is written somewhere else. The rest is for speed.
        for setting in ("synchronous = FULL", "cache_size = -32768", "wal_autocheckpoint = 16384"):
            self.rows(f"PRAGMA {setting}")

    def attach(self) -> bool:
        """Switch the file to WAL once it has tables and mark, so that readers don't wait for writers."""
        # In this order: tables and mark come in one transaction, which another process may be about to end.
        if not self.rows(self.TABLE_NAMES):
            return False
        if self.rows("PRAGMA application_id") != [(APPLICATION,)]:
            raise ArtifactError(NOT_A_LEDGER.format(self.where))
        deadline = time.monotonic() + self.PATIENCE_SECONDS
        with self.plain_errors():
            while True:
                try:
                    self._connection.execute("PRAGMA journal_mode = WAL")
                except sqlite3.OperationalError as error:
                    # SQLite doesn't wait its turn for this, so processes that create a ledger together would fail.
                    if not error.sqlite_errorname.startswith("SQLITE_BUSY") or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)
                else:
                    return True

    def stage(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows to the table `staged`, which is in a file of its own: no other writer waits."""
        with self.plain_errors(), self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany("INSERT INTO staged VALUES (?, ?, ?, ?, ?)", rows)

    def explain(self, error: sqlite3.Error) -> str:
        """Return what is wrong, with SQLite's own words where they are clear."""
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return f"is damaged ({name}); put a backup in its place: what it held cannot be worked out again"
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return f"cannot be used: another process has held it for too long; try again ({name})"
        return f"cannot be used: {error} ({name})"


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    # Threads use a session in turn, as the ledger sees to.
    address, patience = f"{path.absolute().as_uri()}?{mode}", Session.PATIENCE_SECONDS
    return sqlite3.connect(address, timeout=patience, isolation_level=None, check_same_thread=False, uri=True)


def _prepare_file(path: Path, *, create: bool) -> None:
    """Create a file where there is none; raise if it is no ledger, not even a damaged one, without changing a byte."""
    if not path.exists():
        if not create:
            raise InvalidInputError(MISSING.format(path))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite would let others read the file.
        path.touch(mode=0o600)
    if path.is_file() and path.stat().st_size == 0:
        # It may have been created by another program, for all to read.
        path.chmod(0o600)
    elif not path.is_file() or _read_mark(path) != APPLICATION:
        raise ArtifactError(NOT_A_LEDGER.format(path))


def _read_mark(path: Path) -> int | None:
    # Asked through SQLite, which knows not to drop its locks; as immutable, since a database of another program must
    # not even be recovered. That ignores the files beside it, so a ledger after a crash may seem damaged.
    try:
        with closing(_connect(path, "immutable=1")) as connection:
            return int(connection.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.DatabaseError as error:
        return None if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB else APPLICATION
