"""What SQLite complains of, in words that a user can act on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vecveil.core.errors import ArtifactError

_WORDS = {
    sqlite3.SQLITE_BUSY: "another process has held it for too long; try again",
    sqlite3.SQLITE_LOCKED: "another process has held it for too long; try again",
    sqlite3.SQLITE_READONLY: "it may not be written",
    sqlite3.SQLITE_PERM: "it may not be opened",
    sqlite3.SQLITE_CANTOPEN: "it may not be opened, or its folder may not be written",
    sqlite3.SQLITE_FULL: "the disk is full",
}

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the file system into one of ours that names the ledger."""
    try:
        yield
    except OSError as error:
        raise ArtifactError(f"the ledger {path} cannot be used: {error.strerror or error}") from None
    except sqlite3.Error as error:
        # The low byte is the kind of error; the rest says in which call it came up.
        code = error.sqlite_errorcode & 0xFF if hasattr(error, "sqlite_errorcode") else sqlite3.SQLITE_ERROR
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if code in _DAMAGED:
            remedy = "put a backup in its place: what it held cannot be worked out again"
            raise ArtifactError(f"the ledger {path} is damaged ({name}); {remedy}") from None
        raise ArtifactError(f"the ledger {path} cannot be used: {_WORDS.get(code, 'SQLite failed')} ({name})") from None
