"""Vectors on disk, by digest: one SQLite file that several processes may share."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError

if TYPE_CHECKING:
    from sqlite3 import Connection

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class VectorFile:
    """A file of vectors of one length; made, for its owner's eyes only, when it is first used.

    Attributes:
        path: The file; SQLite keeps two more beside it while it is open.
        dimensions: Length of every vector.
    """

    path: Path
    dimensions: int

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Embeddings]:
        """Return the vectors of those `keys` that the file knows."""
        found = {}
        with self._opened() as connection:
            for key in keys:
                row = connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = self._decoded(row[0])
        return found

    def write(self, keys: Sequence[bytes], vectors: Embeddings) -> None:
        """Keep one vector per key, all or none of them; a key that is known already keeps its vector."""
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        with self._opened() as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def _decoded(self, value: object) -> Embeddings:
        if not isinstance(value, bytes) or len(value) != 4 * self.dimensions:
            raise self._broken("it holds a vector of another size")
        return np.frombuffer(value, dtype="<f4").astype(np.float32)

    @contextmanager
    def _opened(self) -> Iterator[Connection]:
        import sqlite3

        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite would make the file as readable as the user's other files; its companions take the same mode.
            # Only a new one: closing any descriptor of a file gives up all locks that this process has on it.
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS)) as connection:
                _prepare(connection)
                yield connection
        except OSError as error:
            raise ArtifactError(f"the cache {self.path} cannot be used: {error.strerror}") from None
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}:
                raise self._broken(error.sqlite_errorname) from None
            raise ArtifactError(f"the cache {self.path} cannot be used now: {error.sqlite_errorname}") from None

    def _broken(self, reason: str) -> ArtifactError:
        return ArtifactError(f"the cache {self.path} is broken ({reason}); delete it, and it is made again")


def _prepare(connection: Connection) -> None:
    import sqlite3

    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # A killed process loses nothing that was committed; only a power cut may lose the last commits.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
        except sqlite3.OperationalError as error:
            # SQLite does not wait its turn to switch a new file to WAL, so processes that make one together would fail.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
