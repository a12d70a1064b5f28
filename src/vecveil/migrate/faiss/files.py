"""Files of FAISS: indexes of whole vectors, marks, unfinished shadows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from stat import S_IMODE
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.atomic import atomic_file, require_own
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.migrate.folders import trying
from vecveil.migrate.store import MARK, Batch
from vecveil.veil.seal import SEAL

WHOLE = ("IndexFlat", "IndexFlatIP", "IndexFlatL2", "IndexHNSWFlat")
"""Indexes that give back the vectors that were put in, and are trained on none of them."""

NAMED = ("IndexIDMap", "IndexIDMap2")  # Indexes that give ids to the rows of another.

UNFINISHED_ENDING, SEALS_ENDING = ".unfinished", ".seals.parquet"


def load_faiss() -> Any:
    """Return the library."""
    with needs_extra("faiss-cpu", "stores"):
        import faiss
    return faiss


def read_index(path: Path) -> Any:
    """Return the index in a file, or raise unless it is of a kind that can be migrated."""
    with trying(f"read {path} as an index of FAISS"):
        index = load_faiss().read_index(str(path))
    kind = type(_unwrap(index)).__name__
    if kind not in WHOLE:
        raise InvalidInputError(
            f"{path} is an {kind}, which keeps shortened vectors or was trained on clean ones; these can be migrated, "
            f"with ids or without: {', '.join(WHOLE)}"
        )
    ids = read_ids(index)
    if len(np.unique(ids)) < len(ids):
        raise InvalidInputError(f"{path} has several rows of one id, which can't be told apart")
    return index


def write_index(index: Any, path: Path, *, like_file: Path) -> None:
    """Write an index, whole or not at all, with the permissions of another file."""
    with atomic_file(path) as draft:
        with trying(f"write {path}; is the disk full?"):
            load_faiss().write_index(index, str(draft))
        draft.chmod(S_IMODE(like_file.stat().st_mode))


def read_ids(index: Any) -> NDArray[np.int64]:
    """Return the ids of all rows: numbers from zero on where they have none."""
    if type(index).__name__ not in NAMED:
        return np.arange(index.ntotal, dtype=np.int64)
    return np.array(load_faiss().vector_to_array(index.id_map), dtype=np.int64)


def read_vectors(index: Any, start: int, rows: int) -> Embeddings:
    """Return the vectors of some rows."""
    return np.asarray(_unwrap(index).reconstruct_n(start, rows), dtype=np.float32)


def replace_vectors(index: Any, vectors: Embeddings) -> Any:
    """Return an index of the same kind, settings and ids, with these vectors in place of its own."""
    copy = load_faiss().clone_index(index)
    copy.reset()
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if type(index).__name__ in NAMED:
        copy.add_with_ids(rows, read_ids(index))
    else:
        copy.add(rows)
    return copy


def _unwrap(index: Any) -> Any:
    return load_faiss().downcast_index(index.index) if type(index).__name__ in NAMED else index


class Note:
    """A file of JSON beside an index, with its mark in it, as an index file of FAISS has no place for one.

    Beside it may be a file of `seals`, by the ids of rows.
    """

    def __init__(self, index: Path) -> None:
        self._index, self.path = index, index.with_name(f"{index.name}.vecveil.json")
        self.seals = index.with_name(f"{index.name}{SEALS_ENDING}")

    def read(self) -> dict[str, Any] | None:
        """Return the content of the note; None where there is none, or a file that is not from vecveil."""
        try:
            found = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and MARK in found else None

    def write(self, content: Mapping[str, Any]) -> None:
        """Write the note, whole or not at all, for all who may read the index."""
        with atomic_file(self.path) as draft:
            draft.write_text(json.dumps(content), encoding="utf-8")
            draft.chmod(S_IMODE(self._index.stat().st_mode))

    def remove(self) -> None:
        """Delete the note, and no file that is not from vecveil."""
        if self.read() is not None:
            self.path.unlink()

    def require_free(self) -> None:
        """Raise where a file that is no note has its name."""
        taken = self.path.is_symlink() or self.path.exists()
        if taken and self.read() is None:
            raise InvalidInputError(f"{self.path} is not from here, and a note needs its name; rename it")


class UnfinishedShadow:
    """A database beside the index file to be, with protected rows, until all are there."""

    def __init__(self, index: Path) -> None:
        self.path = index.with_name(f"{index.name}{UNFINISHED_ENDING}")

    def create(self, note: Mapping[str, Any]) -> None:
        """Begin a shadow."""
        # The index may be one that only its owner reads.
        with atomic_file(self.path) as draft, closing(sqlite3.connect(draft)) as database, database:
            database.execute("CREATE TABLE protected (id INTEGER PRIMARY KEY, vector BLOB, seal BLOB)")
            database.execute("CREATE TABLE note AS SELECT ? AS content", [json.dumps(note)])

    def read_note(self) -> dict[str, Any]:
        """Return the note that the shadow was begun with."""
        with self._open() as database:
            found: dict[str, Any] = json.loads(database.execute("SELECT content FROM note").fetchone()[0])
        return found

    def read_ids(self) -> set[int]:
        """Return the ids of all rows."""
        with self._open() as database:
            return {one for (one,) in database.execute("SELECT id FROM protected")}

    def read_vectors(self) -> dict[int, NDArray[np.float32]]:
        """Return the vector of each id."""
        with self._open() as database:
            rows = database.execute("SELECT id, vector FROM protected")
            return {one: np.frombuffer(vector, dtype=np.float32) for one, vector in rows}

    def write_seals(self, path: Path, *, like_file: Path) -> None:
        """Write the seals of all rows, where they have some, with the permissions of another file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with self._open() as database:
            rows = database.execute("SELECT id, seal FROM protected WHERE seal IS NOT NULL ORDER BY id").fetchall()
        # There may be those of a shadow that was deleted.
        path.unlink(missing_ok=True)
        if rows:
            with atomic_file(path) as draft:
                pq.write_table(pa.table([*zip(*rows, strict=True)], ["id", SEAL]), draft)
                draft.chmod(S_IMODE(like_file.stat().st_mode))

    def append(self, batch: Batch) -> None:
        """Add rows, all or none."""
        vectors = [row.tobytes() for row in batch.vectors.astype(np.float32)]
        with self._open() as database, database:
            rows = zip(batch.ids, vectors, (row.get(SEAL) for row in batch.payload), strict=True)
            database.executemany("INSERT OR IGNORE INTO protected VALUES (?, ?, ?)", rows)

    def remove(self) -> None:
        """Delete it, if it is there."""
        self.path.unlink(missing_ok=True)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        require_own(self.path)
        reasons = "it is damaged, or its disk is full, or another program has it open; repeat this, or delete it"
        with trying(f"use {self.path}: {reasons}"), closing(sqlite3.connect(self.path)) as database:
            yield database
