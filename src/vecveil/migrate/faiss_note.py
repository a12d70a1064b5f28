"""The note beside an index: a file of FAISS has no place for a mark, so another file carries it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vecveil.artifacts.atomic import atomic_file
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.marking import MARK

ENDING = ".vecveil.json"
"""What the name of a note ends in, after that of its index."""


class FaissNote:
    """A file of JSON with a mark in it.

    Args:
        path: Where it is, or would be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Any] | None:
        """Return what the note says; None where there is none, or a file that someone else wrote."""
        try:
            found = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and MARK in found else None

    def write(self, note: Mapping[str, Any]) -> None:
        """Write the note, whole or not at all."""
        with atomic_file(self.path) as draft:
            draft.write_text(json.dumps(note), encoding="utf-8")

    def remove(self) -> None:
        """Delete the note, and nothing that someone else wrote."""
        if self.read() is not None:
            self.path.unlink()

    def require_free(self) -> None:
        """Raise where a file has the name that is not a note."""
        taken = self.path.is_symlink() or self.path.exists()
        if taken and self.read() is None:
            raise InvalidInputError(f"{self.path} is not from here, and a note needs its name; rename it")


def note_of(index: Path) -> FaissNote:
    """Return the note of the index in a file."""
    return FaissNote(index.with_name(f"{index.name}{ENDING}"))
