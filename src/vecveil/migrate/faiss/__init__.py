"""FAISS: index files in a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_IMODE
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.faiss import files
from vecveil.migrate.faiss.files import Note, UnfinishedShadow
from vecveil.migrate.folders import to_folder, trying
from vecveil.migrate.store import Batch, Id, Store, format_mark


def open_faiss(target: str, collection: str) -> FaissStore:
    """Return the store in the folder `target`."""
    files.load_faiss()
    folder = to_folder(target, "faiss")
    if folder.is_file():
        raise InvalidInputError(f"{target} is a file: name its folder (faiss:FOLDER), and the file as the collection")
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {target}")
    return FaissStore(folder, collection)


class FaissStore(Store):
    """Index files of a folder; `Store` says what each method promises.

    Rows keep their order and their ids: what belongs to a row is kept elsewhere, by one or the other. The mark is in a
    note beside the index, with the index's digest, so that it is the mark of nothing else.
    """

    def __init__(self, folder: Path, collection: str) -> None:
        super().__init__(collection)
        self._folder = folder
        self._here, self._shadow, self._backup = (folder / name for name in (collection, self.shadow, self.backup))
        self._unfinished = UnfinishedShadow(self._shadow)
        self._indexes: dict[tuple[int, int], Any] = {}
        self._known: set[int] | None = None

    def list_names(self) -> Sequence[str]:
        known = (path for path in self._folder.iterdir() if path.is_file() and not path.name.startswith("."))
        beside = (".json", files.UNFINISHED_ENDING, files.SEALS_ENDING)
        return sorted(path.name for path in known if not path.name.endswith(beside))

    def count(self, name: str) -> int | None:
        unfinished = UnfinishedShadow(self._folder / name)
        if unfinished.path.is_file():
            return len(unfinished.read_ids())
        return int(self._open(name).ntotal) if (self._folder / name).is_file() else None

    def read_note(self, name: str) -> str | None:
        path = self._folder / name
        unfinished = UnfinishedShadow(path)
        if unfinished.path.is_file():
            return json.dumps(unfinished.read_note())
        note = Note(path).read()
        # A swap writes the note before it moves the index, so there may be a note of an index that never came.
        belongs = note is not None and path.is_file() and note.get("index") == file_digest(path)
        return json.dumps(note) if belongs else None

    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        index = self._open(name)
        ids = files.read_ids(index).tolist()
        for start in range(0, len(ids), rows):
            some = ids[start : start + rows]
            yield Batch(ids=some, vectors=files.read_vectors(index, start, len(some)), payload=[{}] * len(some))

    def create_shadow(self, mark: Mapping[str, Any]) -> None:
        Note(self._shadow).require_free()
        self._unfinished.create({**json.loads(format_mark(mark)), "source": file_digest(self._here)})

    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        if self._known is None:
            self._require_same_source()
            done = not self._unfinished.path.is_file()
            self._known = {*files.read_ids(self._open(self.shadow)).tolist()} if done else self._unfinished.read_ids()
        return {one for one in ids if one in self._known}

    def append(self, batch: Batch) -> None:
        self._unfinished.append(batch)
        self._known = None if self._known is None else self._known | {int(one) for one in batch.ids}

    def finish_shadow(self) -> None:
        if self._unfinished.path.is_file():
            self._require_same_source()
            clean, vectors = self._open(self.collection), self._unfinished.read_vectors()
            rows = [vectors[one] for one in files.read_ids(clean).tolist() if one in vectors]
            if len(rows) < clean.ntotal:
                path = self._unfinished.path
                raise ArtifactError(f"{path} has {len(rows):,} of {clean.ntotal:,} rows; migrate again to go on")
            files.write_index(files.replace_vectors(clean, np.stack(rows)), self._shadow, like_file=self._here)
            self._unfinished.write_seals(Note(self._shadow).seals, like_file=self._here)
            Note(self._shadow).write({**self._unfinished.read_note(), "index": file_digest(self._shadow)})
        self._unfinished.remove()

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        _, found = self._open(name).search(np.ascontiguousarray(vectors, dtype=np.float32), k)
        return [[one for one in row if one >= 0] for row in found.tolist()]

    def is_swap_stopped(self) -> bool:
        return self._here.exists() and self._backup.exists() and self._here.samefile(self._backup)

    def require_swappable(self) -> None:
        _require_no_other_name(self._here, known=2 if self.is_swap_stopped() else 1)
        for index in (self._here, self._shadow):
            Note(index).require_free()

    def swap(self) -> str:
        self.require_swappable()
        note = Note(self._shadow)
        content = note.read()
        if content is None:
            raise ArtifactError(f"{note.path} is damaged; delete the shadow to start anew")
        with trying(f"swap {self._here}"):
            # A second name for the clean file, then its first for the shadow: at no time is there no file of that name.
            if not self.is_swap_stopped():
                os.link(self._here, self._backup)
            self._shadow.chmod(S_IMODE(self._here.stat().st_mode))
            Note(self._here).write(content)
            if note.seals.exists():
                note.seals.replace(Note(self._here).seals)
            self._shadow.replace(self._here)
        note.remove()
        return self.backup

    def drop_backup(self) -> None:
        if self.is_swap_stopped():
            raise InvalidInputError(f"{self._here} is still the clean file, as is {self.backup}; swap first")
        if self._backup.exists() or self._backup.is_symlink():
            _require_no_other_name(self._backup, known=1)
            self._backup.unlink()
        Note(self._backup).remove()

    def close(self) -> None:
        self._indexes.clear()

    def _open(self, name: str) -> Any:
        path = self._folder / name
        now = path.stat()
        key = (now.st_ino, now.st_mtime_ns)
        if key not in self._indexes:
            self._indexes[key] = files.read_index(path)
        return self._indexes[key]

    def _require_same_source(self) -> None:
        """Raise where the clean file is another now: without ids, rows are known by their place alone."""
        note = self._unfinished.read_note() if self._unfinished.path.is_file() else Note(self._shadow).read() or {}
        if note.get("source") != file_digest(self._here):
            raise InvalidInputError(
                f"{self.collection} has changed since {self.shadow} was begun; delete {self.shadow}, and migrate again"
            )


def _require_no_other_name(path: Path, *, known: int) -> None:
    """Raise where a file is a link, or has more names than are known, under which the clean vectors would stay."""
    if path.is_symlink():
        raise InvalidInputError(
            f"{path.name} is a link to {path.readlink()}, where the clean vectors would stay; name that file"
        )
    now = path.stat()
    if now.st_nlink > known:
        beside = [one.name for one in path.parent.iterdir() if one != path and os.path.samestat(one.lstat(), now)]
        raise InvalidInputError(
            f"{path.name} has {now.st_nlink - 1} other names (hard links: "
            f"{', '.join(sorted(beside)) or 'in another folder'}), under which the clean vectors would stay; delete "
            "those, or make copies of them"
        )
