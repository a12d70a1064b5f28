"""Rows and queries of a migration, through the guard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.progress import Progress
from vecveil.migrate.fields import add_field
from vecveil.migrate.store import Batch, Store
from vecveil.veil import Guard
from vecveil.veil.embedding import embed_texts
from vecveil.veil.release import encode_ids
from vecveil.veil.seal import write_as_text


def mark_guard(guard: Guard) -> dict[str, Any]:
    """Return what a mark says of the guard; nothing in it is secret."""
    normalized = guard.opened_veil.fingerprint.normalized
    return {"key": None, **guard.vector_release.label(), "normalized": normalized}


def check_rows(guard: Guard, batch: Batch, *, first_row: int) -> None:
    """Raise, with the row at fault, unless the rows of a batch can be protected."""
    guard.release.check(batch.vectors, first_row=first_row)
    encode_ids(batch.ids, first_row=first_row)


def require_affordable(guard: Guard, batches: Iterable[Batch], *, progress: Progress) -> None:
    """Raise unless the ledger allows the release of all rows; nothing is recorded yet."""
    if (ledger := guard.vector_release.ledger) is not None:
        ledger.check((guard.vector_release.name_records(one.vectors, one.ids) for one in batches), progress=progress)


def protect_rows(guard: Guard, batch: Batch) -> Embeddings:
    """Return the protected vectors of a batch, recorded; of length one where the model's are."""
    return _scale(guard, guard.protect_vectors(batch.vectors, ids=list(batch.ids)))


def seal_rows(guard: Guard, batch: Batch, store: Store) -> list[dict[str, Any]]:
    """Return the payload of a batch with the seal of each row's clean vector."""
    seals = guard.sealer.seal(batch.vectors, batch.ids)
    written = seals if store.takes_bytes else map(write_as_text, seals)
    return [add_field(row, store.seal_path, one) for row, one in zip(batch.payload, written, strict=True)]


def repeat_rows(guard: Guard, batch: Batch) -> Embeddings:
    """Return what `protect_rows` gave for a batch, which takes a key; not recorded, so it must not be published."""
    unrecorded = replace(guard.vector_release, ledger=None)
    return _scale(guard, unrecorded.protect_vectors(batch.vectors, ids=list(batch.ids)))


def protect_queries(
    guard: Guard, queries: Sequence[str] | Embeddings, *, progress: Progress
) -> tuple[Embeddings, Embeddings]:
    """Return the clean vectors of queries and the protected ones, recorded like any others."""
    if isinstance(queries, np.ndarray):
        clean = guard.release.check(queries)
        return clean, guard.protect_vectors(clean).astype(np.float32)
    texts = list(queries)
    clean = embed_texts(guard.model, texts, label="embedding queries", progress=progress)
    return clean, guard.protect_embedded(texts, clean).astype(np.float32)


def _scale(guard: Guard, released: NDArray[Any]) -> Embeddings:
    vectors = released.astype(np.float32)
    if not guard.opened_veil.fingerprint.normalized:
        return vectors
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
