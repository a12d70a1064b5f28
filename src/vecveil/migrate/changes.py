"""Rows that have kept their ids and changed since their shadow was made: a swap would take the change away."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.migrate.fields import FieldPath, without
from vecveil.migrate.store import BATCH_ROWS, Batch, Id, Store
from vecveil.veil import Guard
from vecveil.veil.records import RecordBatch, id_bytes, vector_contents

TOLERANCE = 1e-3
"""Share of a vector's largest number by which stores may change the others: some keep them as float16."""


def require_unchanged(
    store: Store, guard: Guard, clean: str, shadow: str, *, batch_rows: int = BATCH_ROWS, progress: Progress = silent
) -> None:
    """Raise where rows of the clean collection are not what its complete shadow was made of.

    Fields are compared as they are. Vectors are protected again and compared, which a key makes possible, and which
    releases nothing; without a key, a vector that has changed can't be told from one that has other noise.
    """
    left_out = [tuple(path) for path in (store.mark(shadow) or {"left_out": ()})["left_out"]]
    changed = 0
    pairs = _paired(store, clean, shadow, batch_rows)
    for before, after in progress(
        pairs, label="comparing", total=store.count(clean) or 0, weigh=lambda pair: len(pair[0])
    ):
        differs = np.array(
            [
                _carried(old, left_out) != _carried(new, left_out)
                for old, new in zip(before.payload, after.payload, strict=True)
            ]
        )
        if guard.protection.keyed:
            differs |= ~_close(after.vectors, again(guard, before))
        changed += int(differs.sum())
    if changed:
        raise InvalidInputError(
            f"{changed:,} rows of {clean} have changed since {shadow} was made; delete {shadow}, and migrate again"
        )


def protected(guard: Guard, batch: Batch) -> Embeddings:
    """Return what the shadow has in place of a batch's vectors, recorded; of length one where the model's are."""
    return _scaled(guard, guard.vectors(batch.vectors, ids=list(batch.ids)))


def again(guard: Guard, batch: Batch) -> Embeddings:
    """Return the same as `protected`, which a key gives again; nothing is recorded, and nothing may be shown."""
    clean = guard.protection.checked(batch.vectors)
    names = RecordBatch.of(vector_contents(clean), id_bytes(batch.ids)).names
    return _scaled(guard, guard.protection.release(clean, names=names))


def _scaled(guard: Guard, released: NDArray[Any]) -> Embeddings:
    vectors = released.astype(np.float32)
    if not guard.opened_veil.fingerprint.normalised:
        return vectors
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _paired(store: Store, clean: str, shadow: str, rows: int) -> Iterator[tuple[Batch, Batch]]:
    """Yield the rows of both that have the same ids together; what is out of step waits for the other."""
    waiting: dict[Id, tuple[Any, Mapping[str, Any]]] = {}
    shadows = store.batches(shadow, rows)
    for batch in store.batches(clean, rows):
        while not waiting.keys() >= {*batch.ids} and (more := next(shadows, None)) is not None:
            waiting.update(zip(more.ids, zip(more.vectors, more.payload, strict=True), strict=True))
        known = batch.without({one for one in batch.ids if one not in waiting})
        if len(known):
            found = [waiting.pop(one) for one in known.ids]
            vectors = np.stack([vector for vector, _ in found])
            yield known, replace(known, vectors=vectors, payload=[payload for _, payload in found])


def _carried(row: Mapping[str, Any], left_out: Sequence[FieldPath]) -> str:
    return json.dumps(_said(without(row, left_out)), sort_keys=True, default=repr)


def _said(value: Any) -> Any:
    """Return a value without fields that say nothing: some stores keep those that are left out, empty."""
    if not isinstance(value, Mapping):
        return value
    inner = {str(name): _said(entry) for name, entry in value.items()}
    return {name: entry for name, entry in inner.items() if entry is not None and entry != {}}


def _close(found: Embeddings, wanted: Embeddings) -> NDArray[np.bool_]:
    allowed = TOLERANCE * np.abs(wanted).max(axis=1, keepdims=True)
    close: NDArray[np.bool_] = (np.abs(found - wanted) <= allowed).all(axis=1)
    return close
