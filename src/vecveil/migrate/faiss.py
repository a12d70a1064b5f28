"""FAISS: index files in a folder. A collection is a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.artifacts.atomic import atomic_file
from vecveil.core.arrays import Embeddings
from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.faiss_index import faiss_library, ids_of, like, read_index, vectors_of, write_index
from vecveil.migrate.faiss_parts import FaissParts
from vecveil.migrate.marking import read_mark, written
from vecveil.migrate.store import Batch, Id

PARTS, NOTE = ".parts", ".json"
"""What the names of a shadow's parts, and of the note beside an index, end in."""


def open_faiss(target: str, collection: str) -> FaissStore:
    """Return the store in the folder `target`."""
    faiss_library()
    folder = Path(target)
    if folder.is_file():
        raise InvalidInputError(f"{target} is a file: name its folder (faiss:FOLDER), and the file as the collection")
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {target}")
    return FaissStore(folder, collection)


class FaissStore:
    """Index files; `Store` says what each method promises.

    Rows keep their order and their ids: who uses an index keeps what belongs to a row elsewhere, by one or the other.
    The mark stands in a file beside the index, with the index's digest, so that it is the mark of nothing else. A
    shadow is kept in parts until it is whole.

    Args:
        folder: Where the files are.
        collection: Name of the file.
    """

    never: tuple[str, ...] = ()

    def __init__(self, folder: Path, collection: str) -> None:
        self._folder = folder
        self.collection = collection
        self._indexes: dict[tuple[int, int], Any] = {}
        self._known: set[int] | None = None

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return sorted(path.name for path in self._folder.iterdir() if path.is_file() and path.suffix != NOTE)

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        if self._parts(name).exists():
            return len(self._parts(name).ids())
        return int(self._index(name).ntotal) if self._path(name).is_file() else None

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        if self._parts(name).exists():
            return read_mark(json.dumps(self._parts(name).note()), name)
        note = self._note(name)
        if not note.is_file() or not self._path(name).is_file():
            return None
        text = note.read_text(encoding="utf-8")
        mark = read_mark(text, name)
        # The note comes first and the index after it, so a note may be one of an index that never came.
        return mark if mark is not None and json.loads(text).get("index") == file_digest(self._path(name)) else None

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        index = self._index(name)
        ids = ids_of(index).tolist()
        for start in range(0, len(ids), rows):
            some = ids[start : start + rows]
            yield Batch(ids=some, vectors=vectors_of(index, start, len(some)), payload=[{}] * len(some))

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        source = file_digest(self._path(self.collection))
        self._parts(name).create({**json.loads(written(mark)), "source": source})

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        if self._known is None:
            self._require_unchanged(name)
            parts = self._parts(name)
            self._known = parts.ids() if parts.exists() else {*ids_of(self._index(name)).tolist()}
        return {one for one in ids if one in self._known}

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        self._parts(name).append(np.asarray(batch.ids, dtype=np.int64), batch.vectors)
        self._known = None if self._known is None else self._known | {int(one) for one in batch.ids}

    def finish(self, name: str) -> None:
        """Make a whole shadow ready."""
        parts = self._parts(name)
        if not parts.exists():
            return
        self._require_unchanged(name)
        source, vectors = self._index(self.collection), parts.vectors()
        rows = [vectors[one] for one in ids_of(source).tolist() if one in vectors]
        if len(rows) < source.ntotal:
            raise ArtifactError(f"{parts.folder} has {len(rows):,} of {source.ntotal:,} rows; migrate again to go on")
        write_index(like(source, np.stack(rows)), self._path(name))
        self._describe(name, {**parts.note(), "index": file_digest(self._path(name))})
        parts.remove()

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        _, found = self._index(name).search(np.ascontiguousarray(vectors, dtype=np.float32), k)
        return [[one for one in row if one >= 0] for row in found.tolist()]

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        here, there = self._path(self.collection), self._path(backup)
        return here.exists() and there.exists() and here.samefile(there)

    def swap(self, shadow: str, backup: str) -> None:
        """Change the names."""
        here = self._path(self.collection)
        # A second name for the old file, then the new one over the first: at no moment is there no file of that name.
        if not self._path(backup).exists():
            os.link(here, self._path(backup))
        self._describe(self.collection, json.loads(self._note(shadow).read_text(encoding="utf-8")))
        self._path(shadow).replace(here)
        self._note(shadow).unlink()

    def close(self) -> None:
        """Let go of it."""
        self._indexes.clear()

    def _path(self, name: str) -> Path:
        return self._folder / name

    def _note(self, name: str) -> Path:
        return self._folder / f"{name}{NOTE}"

    def _parts(self, name: str) -> FaissParts:
        return FaissParts(self._folder / f"{name}{PARTS}")

    def _describe(self, name: str, note: Mapping[str, Any]) -> None:
        with atomic_file(self._note(name)) as draft:
            draft.write_text(json.dumps(note), encoding="utf-8")

    def _index(self, name: str) -> Any:
        now = self._path(name).stat()
        key = (now.st_ino, now.st_mtime_ns)
        if key not in self._indexes:
            self._indexes[key] = read_index(self._path(name))
        return self._indexes[key]

    def _require_unchanged(self, shadow: str) -> None:
        """Raise where the source is another file now: without ids, rows are known by their place alone."""
        parts, note = self._parts(shadow), self._note(shadow)
        begun = parts.note() if parts.exists() else json.loads(note.read_text(encoding="utf-8"))
        if begun.get("source") != file_digest(self._path(self.collection)):
            raise InvalidInputError(f"{self.collection} has changed since {shadow} was begun; delete it to start anew")
