"""The shadow of an index: begun as parts, finished as a file with a note beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from vecveil.core.digests import file_digest
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.faiss_index import ids_of, like, write_index
from vecveil.migrate.faiss_note import note_of
from vecveil.migrate.faiss_parts import parts_of
from vecveil.migrate.marking import read_mark, written


def mark_of_index(path: Path) -> Mapping[str, Any] | None:
    """Return the mark of an index or of its parts; None where it has none."""
    if parts_of(path).exists():
        return read_mark(json.dumps(parts_of(path).note()), path.name)
    note = note_of(path).read()
    # The note of a collection comes before its index, so a note may be one of an index that never came.
    if note is None or not path.is_file() or note.get("index") != file_digest(path):
        return None
    return read_mark(json.dumps(note), path.name)


def begin_shadow(path: Path, mark: Mapping[str, Any], *, source: Path) -> None:
    """Make an empty shadow of the index in the file `source`."""
    note_of(path).require_free()
    parts_of(path).create({**json.loads(written(mark)), "source": file_digest(source)})


def require_unchanged(path: Path, *, source: Path) -> None:
    """Raise where the source is another file now: without ids, rows are known by their place alone."""
    parts = parts_of(path)
    begun = parts.note() if parts.exists() else note_of(path).read() or {}
    if begun.get("source") != file_digest(source):
        raise InvalidInputError(
            f"{source.name} has changed since {path.name} was begun; delete {path.name}, and migrate again"
        )


def finish_shadow(path: Path, clean: Any, *, source: Path) -> None:
    """Make a file of the parts, in the order of the clean index, which is that of the file `source`."""
    require_unchanged(path, source=source)
    parts = parts_of(path)
    vectors = parts.vectors()
    rows = [vectors[one] for one in ids_of(clean).tolist() if one in vectors]
    if len(rows) < clean.ntotal:
        raise ArtifactError(f"{parts.folder} has {len(rows):,} of {clean.ntotal:,} rows; migrate again to go on")
    write_index(like(clean, np.stack(rows)), path, like_file=source)
    note_of(path).write({**parts.note(), "index": file_digest(path)})
