"""FAISS: index files in a folder. A collection is a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.faiss_index import faiss_library, ids_of, read_index, vectors_of
from vecveil.migrate.faiss_parts import parts_of
from vecveil.migrate.faiss_shadow import begin_shadow, finish_shadow, mark_of_index, require_unchanged
from vecveil.migrate.faiss_swap import drop_file, is_halfway, require_swappable, swap_files
from vecveil.migrate.store import Batch, Id, shadow_of


def open_faiss(target: str, collection: str) -> FaissStore:
    """Return the store in the folder `target`."""
    faiss_library()
    if "://" in target:
        # Not shown: an address may have a password in it.
        raise InvalidInputError("faiss takes folders only (faiss:FOLDER), got an address")
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

    @property
    def columns(self) -> Mapping[str, str | None]:
        """There is no choice."""
        return {}

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        files = (path for path in self._folder.iterdir() if path.is_file())
        return sorted(path.name for path in files if path.suffix != ".json" and not path.name.startswith("."))

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        parts = parts_of(self._path(name))
        if parts.exists():
            return len(parts.ids())
        return int(self._index(name).ntotal) if self._path(name).is_file() else None

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        return mark_of_index(self._path(name))

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        index = self._index(name)
        ids = ids_of(index).tolist()
        for start in range(0, len(ids), rows):
            some = ids[start : start + rows]
            yield Batch(ids=some, vectors=vectors_of(index, start, len(some)), payload=[{}] * len(some))

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        begin_shadow(self._path(name), mark, source=self._path(self.collection))

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        if self._known is None:
            require_unchanged(self._path(name), source=self._path(self.collection))
            parts = parts_of(self._path(name))
            self._known = parts.ids() if parts.exists() else {*ids_of(self._index(name)).tolist()}
        return {one for one in ids if one in self._known}

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        parts_of(self._path(name)).append(np.asarray(batch.ids, dtype=np.int64), batch.vectors)
        self._known = None if self._known is None else self._known | {int(one) for one in batch.ids}

    def finish(self, name: str) -> None:
        """Make a whole shadow ready."""
        parts = parts_of(self._path(name))
        if parts.exists():
            finish_shadow(self._path(name), self._index(self.collection), source=self._path(self.collection))
        parts.remove()

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        _, found = self._index(name).search(np.ascontiguousarray(vectors, dtype=np.float32), k)
        return [[one for one in row if one >= 0] for row in found.tolist()]

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        return is_halfway(self._path(self.collection), self._path(backup))

    def require_swappable(self, backup: str) -> None:
        """Raise where a swap would be refused."""
        require_swappable(self._path(self.collection), self._path(shadow_of(self.collection)), self._path(backup))

    def swap(self, shadow: str, backup: str) -> str:
        """Change the names."""
        self.require_swappable(backup)
        swap_files(self._path(self.collection), self._path(shadow), self._path(backup))
        return backup

    def drop(self, backup: str) -> None:
        """Delete the clean file."""
        drop_file(self._path(self.collection), self._path(backup))

    def close(self) -> None:
        """Let go of it."""
        self._indexes.clear()

    def _path(self, name: str) -> Path:
        return self._folder / name

    def _index(self, name: str) -> Any:
        now = self._path(name).stat()
        key = (now.st_ino, now.st_mtime_ns)
        if key not in self._indexes:
            self._indexes[key] = read_index(self._path(name))
        return self._indexes[key]
