"""The shadow of an index while it is made: a folder of parts, each of them whole, beside the note that describes it."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from vecveil.artifacts.atomic import atomic_file, atomic_folder
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError
from vecveil.migrate.faiss_note import FaissNote

ENDING = ".parts"
"""What the name of the folder ends in, after that of the shadow."""

NOTE = "shadow.json"


class FaissParts:
    """Protected rows that wait for the others.

    Args:
        folder: Where they are, or would be.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Return whether a shadow has been begun and not finished."""
        return self.folder.is_dir()

    def create(self, note: Mapping[str, Any]) -> None:
        """Begin a shadow."""
        # The index may be one that only its owner reads.
        with atomic_folder(self.folder, private=True) as draft:
            (draft / NOTE).write_text(json.dumps(note), encoding="utf-8")

    def note(self) -> dict[str, Any]:
        """Return what the shadow was begun with."""
        found = FaissNote(self.folder / NOTE).read()
        if found is None:
            raise self._damaged()
        return found

    def ids(self) -> set[int]:
        """Return the ids of all rows."""
        return {one for ids, _ in self._parts(vectors=False) for one in ids.tolist()}

    def append(self, ids: NDArray[np.int64], vectors: Embeddings) -> None:
        """Add rows, all or none."""
        # Not a number that counts on: another migration of the same collection would choose it too.
        with atomic_file(self.folder / f"{secrets.token_hex(8)}.npz") as draft, draft.open("wb") as stream:
            np.savez(stream, ids=ids, vectors=vectors)

    def vectors(self) -> dict[int, Embeddings]:
        """Return the vector of each id."""
        return {one: row for ids, rows in self._parts() for one, row in zip(ids.tolist(), rows, strict=True)}

    def remove(self) -> None:
        """Delete them, and what an earlier call that was stopped left of others."""
        if self.exists():
            # Half of the folder under its own name would pass for a shadow that is damaged.
            self.folder.rename(self.folder.with_name(f".{self.folder.name}.{secrets.token_hex(6)}.gone"))
        for gone in self.folder.parent.glob(f".{self.folder.name}.*.gone"):
            shutil.rmtree(gone, ignore_errors=True)

    def _parts(self, *, vectors: bool = True) -> list[tuple[NDArray[np.int64], Embeddings]]:
        found = []
        for path in sorted(self.folder.glob("*.npz")):
            try:
                with path.open("rb") as stream, np.load(stream, allow_pickle=False) as part:
                    found.append((part["ids"], part["vectors"] if vectors else np.empty((0, 0))))
            except (OSError, ValueError, KeyError, EOFError, BadZipFile):
                raise self._damaged() from None
        return found

    def _damaged(self) -> ArtifactError:
        return ArtifactError(f"{self.folder} is damaged; delete it to start anew")


def parts_of(index: Path) -> FaissParts:
    """Return the parts of the index that a file will hold."""
    return FaissParts(index.with_name(f"{index.name}{ENDING}"))
