"""The swap of a collection with its shadow, after checks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.migrate.fields import FieldPath, remove_fields
from vecveil.migrate.protection import mark_guard, repeat_rows
from vecveil.migrate.store import BATCH_ROWS, START_ANEW, Batch, Id, Store, require_same_mark
from vecveil.veil import Guard

STOPPED = "a swap of it was stopped; repeat the swap (--swap), which goes on"
TOLERANCE = 1e-3  # Share of a vector's largest number by which stores change the others: some keep float16.


@dataclass(frozen=True, kw_only=True)
class SwapResult:
    """The result of a swap.

    Attributes:
        rows: Rows in the collection: protected ones, and those written since, as their writer made them.
        backup: Where the clean vectors are now, and the texts; None where they are gone.
        before: Whether an earlier call had done it all.
    """

    rows: int
    backup: str | None
    before: bool


@dataclass(frozen=True, kw_only=True)
class Backup:
    """Clean rows, beside a collection that was swapped.

    Attributes:
        name: What they are called.
        rows: How many there are.
        alone: How many are not in the collection: deleted there since, or written by what still had the backup open.
    """

    name: str
    rows: int
    alone: int


def swap(store: Store, guard: Guard, *, progress: Progress = silent) -> SwapResult:
    """Give the collection's name to its shadow; refused unless the shadow has the collection's rows as they are now.

    Safe to repeat: a swap that was stopped goes on, and one that is done stays done.

    Args:
        store: The store, opened for the collection.
        guard: What the shadow was protected with.
        progress: Called as the work advances.
    """
    collection, kept = store.collection, store.count(store.backup)
    stopped = kept is not None and store.is_swap_stopped()
    if not stopped:
        rows = require_collection(store)
        if store.read_mark(collection) is not None:
            _require_swapped(store, guard)
            return SwapResult(rows=rows, backup=store.backup if kept is not None else None, before=True)
    _require_shadow(store, guard, stopped=stopped)
    if not stopped:
        require_swappable(store)
    # Stopped between two renames, a collection has its backup's name, and its own may be taken by an empty one.
    clean = store.backup if stopped and not store.count(collection) else collection
    rows = require_complete(store, clean)
    store.finish_shadow()
    require_unchanged(store, guard, clean, progress=progress)
    return SwapResult(rows=rows, backup=store.swap(), before=False)


def find_backup(store: Store, guard: Guard) -> Backup:
    """Return the backup of a collection; refused unless the collection was swapped with `guard`, and has one."""
    rows = store.count(store.backup)
    if store.count(store.collection) is None:
        raise InvalidInputError(f"there is no {store.collection}: nothing of it is dropped")
    _require_swapped(store, guard)
    if rows is None:
        raise InvalidInputError(f"there is no {store.backup} to drop")
    known = {one for batch in store.read_batches(store.collection, BATCH_ROWS) for one in batch.ids}
    alone = sum(one not in known for batch in store.read_batches(store.backup, BATCH_ROWS) for one in batch.ids)
    return Backup(name=store.backup, rows=rows, alone=alone)


def drop_backup(store: Store, guard: Guard) -> Backup:
    """Delete the clean rows of a collection that was swapped with `guard`, for good, and return what they were.

    This includes what the store itself would leave of them on disk. Copies made elsewhere can't be reached.
    """
    found = find_backup(store, guard)
    store.drop_backup()
    return found


def require_collection(store: Store) -> int:
    """Return how many rows the collection has, or raise with the names that there are."""
    rows = store.count(store.collection)
    if rows is not None:
        return rows
    kept = store.count(store.backup)
    if kept is not None and store.is_swap_stopped():
        raise InvalidInputError(f"there is no {store.collection}, and a {store.backup} with {kept:,} rows: {STOPPED}")
    known = ", ".join(sorted(store.list_names())) or "none"
    raise InvalidInputError(f"there is no collection {store.collection!r} in this store (there are: {known})")


def require_swappable(store: Store) -> None:
    """Raise where a swap of the collection would be refused later; checked before any budget is spent."""
    kept = store.count(store.backup)
    if kept is not None and store.is_swap_stopped():
        raise InvalidInputError(f"there is a {store.backup} of {store.collection} with {kept:,} rows: {STOPPED}")
    if kept is not None:
        # Never advise to delete it: where rows were written during a stopped swap, it has the only clean ones.
        raise InvalidInputError(
            f"there is a {store.backup} already, with {kept:,} rows; they may be the only clean ones that are left, so "
            "look at it, move it out of the way (by renaming or copying), and repeat this"
        )
    store.require_swappable()


def require_complete(store: Store, clean: str, *, batch_rows: int = BATCH_ROWS) -> int:
    """Return how many rows the shadow has, or raise unless they are exactly those of the clean collection."""
    shadow = store.shadow
    wanted, found = store.count(clean) or 0, store.count(shadow) or 0
    sizes = f"{shadow} has {found:,} rows and {clean} {'only ' if found > wanted else ''}{wanted:,}"
    if found > wanted:
        raise InvalidInputError(f"{sizes}: rows of it were deleted since; delete {shadow}, and migrate again")
    if found < wanted:
        raise InvalidInputError(f"{sizes}: the shadow is not complete; migrate again to add what is missing")
    if not store.shadow_has_all(clean, batch_rows):
        same = f"{shadow} has as many rows, but not the same"
        raise InvalidInputError(f"{clean} has changed since: {same}; delete {shadow}, and migrate again")
    return wanted


def require_unchanged(
    store: Store, guard: Guard, clean: str, *, batch_rows: int = BATCH_ROWS, progress: Progress = silent
) -> None:
    """Raise where rows of the clean collection have changed since its complete shadow was made of them.

    Fields are compared as they are. Vectors are protected again and compared, which a key makes possible, and which
    releases nothing. Without a key, or where the model read texts again, a vector that has changed can't be told from
    one that has other noise.
    """
    mark = store.read_mark(store.shadow) or {"left_out": ()}
    left_out = [*map(tuple, mark["left_out"]), *([store.seal_path] if mark.get("seals") else [])]
    changed = 0
    pairs = _pair_rows(store, clean, batch_rows)
    total = store.count(clean) or 0
    for before, after in progress(pairs, label="comparing", total=total, weigh=lambda pair: len(pair[0])):
        payloads = zip(before.payload, after.payload, strict=True)
        differs = np.array([_to_json(old, left_out) != _to_json(new, left_out) for old, new in payloads])
        if guard.release.is_keyed and not mark.get("text_field"):
            differs |= ~_are_close(after.vectors, repeat_rows(guard, before))
        changed += int(differs.sum())
    if changed:
        raise InvalidInputError(
            f"{changed:,} rows of {clean} have changed since {store.shadow} was made; delete {store.shadow}, and "
            "migrate again"
        )


def _pair_rows(store: Store, clean: str, rows: int) -> Iterator[tuple[Batch, Batch]]:
    """Yield the rows of collection and shadow that have the same ids together, in whatever order they come."""
    waiting: dict[Id, tuple[Any, Mapping[str, Any]]] = {}
    shadows = store.read_batches(store.shadow, rows)
    for batch in store.read_batches(clean, rows):
        while not waiting.keys() >= {*batch.ids} and (more := next(shadows, None)) is not None:
            waiting.update(zip(more.ids, zip(more.vectors, more.payload, strict=True), strict=True))
        known = batch.without({one for one in batch.ids if one not in waiting})
        if len(known):
            found = [waiting.pop(one) for one in known.ids]
            vectors = np.stack([vector for vector, _ in found])
            yield known, replace(known, vectors=vectors, payload=[payload for _, payload in found])


def _to_json(row: Mapping[str, Any], left_out: Sequence[FieldPath]) -> str:
    return json.dumps(_remove_empty(remove_fields(row, left_out)), sort_keys=True, default=repr)


def _remove_empty(value: Any) -> Any:
    """Return a value without empty fields: some stores keep those that are left out, empty."""
    if not isinstance(value, Mapping):
        return value
    inner = {str(name): _remove_empty(entry) for name, entry in value.items()}
    return {name: entry for name, entry in inner.items() if entry is not None and entry != {}}


def _are_close(found: Embeddings, wanted: Embeddings) -> NDArray[np.bool_]:
    allowed = TOLERANCE * np.abs(wanted).max(axis=1, keepdims=True)
    return np.asarray((np.abs(found - wanted) <= allowed).all(axis=1))


def _require_swapped(store: Store, guard: Guard) -> None:
    """Raise unless the collection was swapped before, and its shadow was protected with `guard`."""
    mark = store.read_mark(store.collection)
    if mark is None:
        raise InvalidInputError(f"{store.collection} was not swapped: it carries no mark, and its rows are clean")
    _require_same(guard, store.collection, mark, store.columns, advice="name what it was swapped with")


def _require_shadow(store: Store, guard: Guard, *, stopped: bool) -> None:
    shadow = store.shadow
    if store.count(shadow) is None:
        raise InvalidInputError(f"there is no {shadow} to swap with {store.collection}; migrate without a swap first")
    mark = store.read_mark(shadow)
    if mark is None:
        raise InvalidInputError(f"there is a {shadow} that is not from here: it carries no mark")
    # In a stopped swap there may be no collection whose columns could be found; they were compared before.
    _require_same(guard, shadow, mark, mark.get("columns", {}) if stopped else store.columns)


def _require_same(
    guard: Guard, name: str, mark: Mapping[str, Any], columns: Mapping[str, Any], *, advice: str = START_ANEW
) -> None:
    wanted = {**mark, **mark_guard(guard, mark.get("text_field")), "columns": dict(columns)}
    require_same_mark(mark, wanted, name, advice=advice)
