"""Cache of embeddings on disk: a text goes through a model once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.atomic import create_file, require_own
from vecveil.core.digests import text_digest
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.embedders.embedder import Embedder, Fingerprint, require_unicode

if TYPE_CHECKING:
    from sqlite3 import Connection

CHUNK = 512
"""Texts that are embedded and then kept together: what a stopped run has to do again, at most."""

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class CachedEmbedder:
    """An embedder that remembers.

    **The cache is as sensitive as the texts.** It holds clean embeddings, and those can be inverted to the texts; it
    also holds unsalted digests, from which a guessed text can be confirmed. That is why nothing is cached unless you
    ask for it. Keep the folder where you would keep the texts, and delete it with them.

    Attributes:
        embedder: Makes the vectors that are not known yet.
        folder: Where to keep them: one file per fingerprint, readable by its owner only. Processes may share it.
    """

    embedder: Embedder
    folder: Path

    @property
    def fingerprint(self) -> Fingerprint:
        """The identity of the embedder behind the cache."""
        return self.embedder.fingerprint

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order, embedding only what the cache does not know.

        Raises:
            ArtifactError: If the cache's file is broken; the message names it.
        """
        rows = require_unicode(texts)
        keys = [text_digest(text) for text in rows]
        fingerprint = self.fingerprint
        file = VectorFile(path=Path(self.folder) / f"{fingerprint.digest()}.sqlite", dimensions=fingerprint.dimensions)
        known = file.read(list(dict.fromkeys(keys)))
        missing = list({key: text for key, text in zip(keys, rows, strict=True) if key not in known}.items())
        for start in range(0, len(missing), CHUNK):
            new_keys, new_texts = zip(*missing[start : start + CHUNK], strict=True)
            vectors = self.embedder.embed(new_texts)
            # What is kept wrong once is wrong for good, so an embedder that breaks its contract is stopped here.
            if vectors.shape != (wanted := (len(new_texts), fingerprint.dimensions)):
                raise InvalidInputError(f"the embedder must return shape {wanted}, got {vectors.shape}")
            file.write(new_keys, vectors)
            known.update(zip(new_keys, vectors, strict=True))
        result = np.empty((len(rows), fingerprint.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            result[row] = known[key]
        return result


@dataclass(frozen=True, kw_only=True)
class VectorFile:
    """An SQLite file of vectors by digest; created, for its owner to read alone, when it is first used.

    Attributes:
        path: The file; SQLite keeps two more beside it while it is open. Several processes may share it.
        dimensions: Length of every vector.
    """

    path: Path
    dimensions: int

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Embeddings]:
        """Return the vectors of those `keys` that the file knows."""
        found = {}
        with self._open() as connection:
            for key in keys:
                row = connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = self._decode(row[0])
        return found

    def write(self, keys: Sequence[bytes], vectors: Embeddings) -> None:
        """Keep one vector per key, all or none of them; a key that is known already keeps its vector."""
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        with self._open() as connection, connection:
            connection.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)

    def _decode(self, value: object) -> Embeddings:
        if not isinstance(value, bytes) or len(value) != 4 * self.dimensions:
            raise self._to_error("it holds a vector of another size")
        return np.frombuffer(value, dtype="<f4").astype(np.float32)

    @contextmanager
    def _open(self) -> Iterator[Connection]:
        import sqlite3

        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite would make the file as readable as the user's other files; its companions take the same mode.
            # Only a new one: closing any descriptor of a file gives up all locks that this process has on it.
            require_own(self.path)
            with suppress(FileExistsError):
                create_file(self.path)
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS)) as connection:
                _create_table(connection)
                yield connection
        except OSError as error:
            raise ArtifactError(f"the cache {self.path} cannot be used: {error.strerror}") from None
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}:
                raise self._to_error(error.sqlite_errorname) from None
            raise ArtifactError(f"the cache {self.path} cannot be used now: {error.sqlite_errorname}") from None

    def _to_error(self, reason: str) -> ArtifactError:
        return ArtifactError(f"the cache {self.path} is broken ({reason}); delete it, and it is made again")


def _create_table(connection: Connection) -> None:
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
