"""Rows and queries of a migration, through the guard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, to_unit_length
from vecveil.core.progress import Progress
from vecveil.migrate.fields import FieldPath, add_field, read_field
from vecveil.migrate.store import Batch, Store
from vecveil.veil import Guard
from vecveil.veil.embedding import embed_texts
from vecveil.veil.release import Release, encode_ids
from vecveil.veil.seal import write_as_text

SAMPLED, SAME_TEXT = 8, 0.99
"""Rows by which the texts of vectors are known, and the least cosine of a vector and that of its text."""


def mark_guard(guard: Guard, text: Sequence[str] | None) -> dict[str, Any]:
    """Return what a mark says of the guard; nothing in it is secret."""
    normalized = guard.opened_veil.fingerprint.normalized
    field = None if text is None else list(text)
    return {"key": None, **_release(guard, text).label(), "normalized": normalized, "text_field": field}


def find_text_field(guard: Guard, batch: Batch, candidates: Sequence[FieldPath]) -> FieldPath | None:
    """Return the field whose texts the vectors of a batch are of; None where they are of none."""
    clean = batch.vectors[:SAMPLED]
    for path in candidates:
        made = embed_texts(guard.model, [read_field(row, path) for row in batch.payload[:SAMPLED]])
        if (np.vecdot(to_unit_length(made), to_unit_length(clean)) >= SAME_TEXT).all():
            return path
    return None


def check_rows(guard: Guard, batch: Batch, *, first_row: int) -> None:
    """Raise, with the row at fault, unless the rows of a batch can be protected."""
    guard.release.check(batch.vectors, first_row=first_row)
    encode_ids(batch.ids, first_row=first_row)


def require_affordable(
    guard: Guard, batches: Iterable[Batch], text: FieldPath | None = None, *, progress: Progress
) -> None:
    """Raise unless the ledger allows the release of all rows; nothing is recorded yet.

    Keyed noise of texts has no name before they are embedded: what is refused later is not lost then.
    """
    release = _release(guard, text)
    if release.ledger is None or (text is not None and release.is_keyed):
        return
    texts = ((encode_ids(one.ids), None) for one in batches)
    vectors = (release.name_records(one.vectors, one.ids) for one in batches)
    release.ledger.check(vectors if text is None else texts, progress=progress)


def protect_rows(guard: Guard, batch: Batch, text: FieldPath | None = None) -> Embeddings:
    """Return the protected vectors of a batch, recorded; of length one where the model's are.

    Args:
        guard: What protects them.
        batch: The rows.
        text: The field of their texts, which the model reads again without their private words; None to protect the
            vectors as they are.
    """
    ids = list(batch.ids)
    if text is None:
        return _scale(guard, guard.protect_vectors(batch.vectors, ids=ids))
    return _scale(guard, guard.protect_texts([read_field(row, text) for row in batch.payload], ids=ids))


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


def _release(guard: Guard, text: Sequence[str] | None) -> Release:
    return guard.vector_release if text is None else guard.release


def _scale(guard: Guard, released: NDArray[Any]) -> Embeddings:
    normalized = guard.opened_veil.fingerprint.normalized
    return np.asarray(to_unit_length(released) if normalized else released, dtype=np.float32)
