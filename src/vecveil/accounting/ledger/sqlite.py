"""A ledger in an SQLite file: nothing to set up, for any number of processes on one machine."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from vecveil.accounting.ledger.founding import no_ledger, not_a_ledger
from vecveil.accounting.ledger.sqlite_errors import plain_errors
from vecveil.accounting.ledger.sqlite_session import MARK, SqliteSession

_CONNECTING = Lock()
"""Taken while a file is made: closing it drops whatever locks this process holds on it, so no session may be open."""


@dataclass(frozen=True, kw_only=True)
class SqliteDatabase:
    """An SQLite file, made for its owner's eyes only.

    Attributes:
        path: The file; SQLite keeps two more beside it while it is open.
    """

    path: Path

    @property
    def where(self) -> str:
        """The path."""
        return str(self.path)

    def connect(self, *, create: bool) -> SqliteSession:
        """Return a new session."""
        with _CONNECTING, plain_errors(self.path):
            if not self.path.exists():
                if not create:
                    raise no_ledger(self.where)
                self._make()
            self._require_ledger()
            if self.path.stat().st_size == 0:
                # Someone else may have made the empty file, for all to read.
                self.path.chmod(0o600)
            return SqliteSession(self.path)

    def _make(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            # SQLite would make the file as readable as the user's other files; its companions take the same mode.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            # Another process was faster, and makes the same.
            return

    def _require_ledger(self) -> None:
        """Raise if the file is anything but a ledger, or the empty beginning of one, without changing a byte."""
        if not self.path.is_file():
            raise not_a_ledger(self.where)
        if self.path.stat().st_size == 0:
            return
        # Asked through SQLite, which knows not to drop its locks; as immutable, since a database of someone else's
        # must not even be recovered. That looks past the companions, so a ledger after a crash may seem damaged.
        try:
            with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?immutable=1", uri=True)) as connection:
                ((mark,),) = connection.execute("PRAGMA application_id")
        except sqlite3.DatabaseError as error:
            mark = None if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB else MARK
        if mark != MARK:
            raise not_a_ledger(self.where)
