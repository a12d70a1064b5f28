"""The swap of a collection with its shadow."""

from __future__ import annotations

from dataclasses import dataclass

from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.migrate.mark import require_same_mark
from vecveil.migrate.protection import mark_guard
from vecveil.migrate.store import BATCH_ROWS, Store
from vecveil.migrate.verification import require_collection, require_complete, require_swappable, require_unchanged
from vecveil.veil import Guard


@dataclass(frozen=True, kw_only=True)
class Swap:
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


def swap(store: Store, guard: Guard, *, progress: Progress = silent) -> Swap:
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
            return Swap(rows=rows, backup=store.backup if kept is not None else None, before=True)
    _require_shadow(store, guard, stopped=stopped)
    if not stopped:
        require_swappable(store)
    # Stopped between two renames, a collection has its backup's name, and its own may be taken by an empty one.
    clean = store.backup if stopped and not store.count(collection) else collection
    rows = require_complete(store, clean)
    store.finish_shadow()
    require_unchanged(store, guard, clean, progress=progress)
    return Swap(rows=rows, backup=store.swap(), before=False)


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


def _require_swapped(store: Store, guard: Guard) -> None:
    """Raise unless the collection was swapped before, and its shadow was protected with `guard`."""
    mark = store.read_mark(store.collection)
    if mark is None:
        raise InvalidInputError(f"{store.collection} was not swapped: it carries no mark, and its rows are clean")
    wanted = {**mark, **mark_guard(guard), "columns": dict(store.columns)}
    require_same_mark(mark, wanted, store.collection, advice="name what it was swapped with")


def _require_shadow(store: Store, guard: Guard, *, stopped: bool) -> None:
    shadow = store.shadow
    if store.count(shadow) is None:
        raise InvalidInputError(f"there is no {shadow} to swap with {store.collection}; migrate without a swap first")
    mark = store.read_mark(shadow)
    if mark is None:
        raise InvalidInputError(f"there is a {shadow} that is not from here: it carries no mark")
    # In a stopped swap there may be no collection whose columns could be found; they were compared before.
    columns = mark.get("columns", {}) if stopped else store.columns
    require_same_mark(mark, {**mark, **mark_guard(guard), "columns": dict(columns)}, shadow)
