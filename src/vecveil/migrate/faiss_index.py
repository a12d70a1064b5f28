"""Indexes of FAISS that keep whole vectors: read, taken apart, and made anew with other vectors in the same places."""

from __future__ import annotations

from pathlib import Path
from stat import S_IMODE
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.artifacts.atomic import atomic_file
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError

WHOLE = ("IndexFlat", "IndexFlatIP", "IndexFlatL2", "IndexHNSWFlat")
"""Indexes that give back the vectors that were put in, and are trained on none of them."""

NAMED = ("IndexIDMap", "IndexIDMap2")
"""Indexes that give ids to the rows of another."""


def faiss_library() -> Any:
    """Return the library."""
    try:
        import faiss
    except ImportError:
        raise MissingExtraError("faiss-cpu", "faiss") from None
    return faiss


def read_index(path: Path) -> Any:
    """Return the index in a file, or raise unless it is of a kind that can be migrated."""
    faiss = faiss_library()
    try:
        index = faiss.read_index(str(path))
    except (RuntimeError, MemoryError):
        raise ArtifactError(f"{path} cannot be read as an index of FAISS") from None
    inner = _rows_of(index)
    if type(inner).__name__ not in WHOLE:
        raise InvalidInputError(
            f"{path} is an {type(inner).__name__}, which keeps shortened vectors or was trained on clean ones; these "
            f"can be migrated, with ids or without: {', '.join(WHOLE)}"
        )
    ids = ids_of(index)
    if len(np.unique(ids)) < len(ids):
        raise InvalidInputError(f"{path} has several rows of one id, which can't be told apart")
    return index


def write_index(index: Any, path: Path, *, like_file: Path) -> None:
    """Write an index, whole or not at all, for those to read who may read another file."""
    with atomic_file(path, private=True) as draft:
        try:
            faiss_library().write_index(index, str(draft))
        except RuntimeError:
            raise ArtifactError(f"{path} could not be written: FAISS failed; is the disk full?") from None
        draft.chmod(S_IMODE(like_file.stat().st_mode))


def ids_of(index: Any) -> NDArray[np.int64]:
    """Return the ids of all rows: numbers from zero on where they have none."""
    if type(index).__name__ not in NAMED:
        return np.arange(index.ntotal, dtype=np.int64)
    return np.array(faiss_library().vector_to_array(index.id_map), dtype=np.int64)


def vectors_of(index: Any, start: int, rows: int) -> Embeddings:
    """Return the vectors of some rows."""
    return np.asarray(_rows_of(index).reconstruct_n(start, rows), dtype=np.float32)


def like(index: Any, vectors: Embeddings) -> Any:
    """Return an index of the same kind, settings and ids, with these vectors in place of its own."""
    empty = faiss_library().clone_index(index)
    empty.reset()
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    if type(index).__name__ in NAMED:
        empty.add_with_ids(rows, ids_of(index))
    else:
        empty.add(rows)
    return empty


def _rows_of(index: Any) -> Any:
    return faiss_library().downcast_index(index.index) if type(index).__name__ in NAMED else index
