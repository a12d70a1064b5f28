"""Index files of FAISS that keep whole vectors."""

from __future__ import annotations

from pathlib import Path
from stat import S_IMODE
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.atomic import atomic_file
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError

WHOLE = ("IndexFlat", "IndexFlatIP", "IndexFlatL2", "IndexHNSWFlat")
"""Indexes that give back the vectors that were put in, and are trained on none of them."""

NAMED = ("IndexIDMap", "IndexIDMap2")  # Indexes that give ids to the rows of another.


def load_faiss() -> Any:
    """Return the library."""
    try:
        import faiss
    except ImportError:
        raise MissingExtraError("faiss-cpu", "faiss") from None
    return faiss


def read_index(path: Path) -> Any:
    """Return the index in a file, or raise unless it is of a kind that can be migrated."""
    try:
        index = load_faiss().read_index(str(path))
    except (RuntimeError, MemoryError):
        raise ArtifactError(f"{path} cannot be read as an index of FAISS") from None
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
        try:
            load_faiss().write_index(index, str(draft))
        except RuntimeError:
            raise ArtifactError(f"{path} could not be written: FAISS failed; is the disk full?") from None
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
