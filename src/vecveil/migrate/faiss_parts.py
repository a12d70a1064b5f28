"""The shadow of an index while it is made: a folder of parts, each of them whole, beside the note that describes it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.artifacts.atomic import atomic_file, atomic_folder
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError

NOTE = "shadow.json"


@dataclass(frozen=True)
class FaissParts:
    """Protected rows that wait for the others.

    Attributes:
        folder: Where they are.
    """

    folder: Path

    def exists(self) -> bool:
        """Return whether a shadow has been begun and not finished."""
        return self.folder.is_dir()

    def create(self, note: dict[str, Any]) -> None:
        """Begin a shadow."""
        with atomic_folder(self.folder) as draft:
            (draft / NOTE).write_text(json.dumps(note), encoding="utf-8")

    def note(self) -> dict[str, Any]:
        """Return what the shadow was begun with."""
        try:
            found = json.loads((self.folder / NOTE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = None
        if not isinstance(found, dict):
            raise ArtifactError(f"{self.folder} is damaged; delete it to start anew")
        return found

    def ids(self) -> set[int]:
        """Return the ids of all rows."""
        return {one for ids, _ in self._parts(vectors=False) for one in ids.tolist()}

    def append(self, ids: NDArray[np.int64], vectors: Embeddings) -> None:
        """Add rows, all or none."""
        number = len(list(self.folder.glob("*.npz")))
        with atomic_file(self.folder / f"{number:08d}.npz") as draft, draft.open("wb") as stream:
            np.savez(stream, ids=ids, vectors=vectors)

    def vectors(self) -> dict[int, Embeddings]:
        """Return the vector of each id."""
        return {one: row for ids, rows in self._parts() for one, row in zip(ids.tolist(), rows, strict=True)}

    def remove(self) -> None:
        """Delete them."""
        shutil.rmtree(self.folder)

    def _parts(self, *, vectors: bool = True) -> list[tuple[NDArray[np.int64], Embeddings]]:
        found = []
        for path in sorted(self.folder.glob("*.npz")):
            with np.load(path, allow_pickle=False) as part:
                found.append((part["ids"], part["vectors"] if vectors else np.empty((0, 0))))
        return found
