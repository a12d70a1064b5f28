"""The swap: the shadow takes the collection's name, and the collection stays, under another."""

from __future__ import annotations

from dataclasses import dataclass

from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.migrate.changes import require_unchanged
from vecveil.migrate.completeness import require_collection, require_complete, require_swappable
from vecveil.migrate.marking import mark_of, require_same
from vecveil.migrate.store import Store, backup_of, shadow_of
from vecveil.veil import Guard


@dataclass(frozen=True, kw_only=True)
class Swap:
    """What was done.

    Attributes:
        rows: Rows in the collection; those that were swapped are protected, and those written since are as their writer
            made them.
        backup: Where the clean vectors are now, and the texts; None where they are gone.
        before: Whether an earlier call had done it all.
    """

    rows: int
    backup: str | None
    before: bool


def swap(store: Store, guard: Guard, *, progress: Progress = silent) -> Swap:
    """Give the collection's name to its shadow; refused unless the shadow has the collection's rows as they are now.

    Safe to repeat: one that was stopped goes on, and one that is done stays done.

    Args:
        store: The store, opened for the collection.
        guard: What the shadow was protected with.
        progress: Told how far the work is.
    """
    collection = store.collection
    shadow, backup = shadow_of(collection), backup_of(collection)
    kept = store.count(backup)
    halfway = kept is not None and store.halfway(backup)
    if not halfway:
        rows = require_collection(store)
        if store.mark(collection) is not None:
            require_ours(store, guard)
            return Swap(rows=rows, backup=backup if kept is not None else None, before=True)
    _require_shadow(store, guard, shadow, halfway=halfway)
    if not halfway:
        require_swappable(store)
    # Stopped between two renames, a collection has its backup's name, and its own may be taken by an empty one.
    clean = backup if halfway and not store.count(collection) else collection
    rows = require_complete(store, clean, shadow)
    store.finish(shadow)
    require_unchanged(store, guard, clean, shadow, progress=progress)
    return Swap(rows=rows, backup=store.swap(shadow, backup), before=False)


def require_ours(store: Store, guard: Guard) -> None:
    """Raise unless the collection was swapped before, and its shadow was protected with `guard`."""
    mark = store.mark(store.collection)
    if mark is None:
        raise InvalidInputError(f"{store.collection} was not swapped: it carries no mark, and its rows are clean")
    wanted = mark_of(guard, keep_texts=mark["keep_texts"], left_out=(), columns=store.columns)
    require_same(mark, wanted, store.collection, advice="name what it was swapped with")


def _require_shadow(store: Store, guard: Guard, shadow: str, *, halfway: bool) -> None:
    if store.count(shadow) is None:
        raise InvalidInputError(f"there is no {shadow} to swap with {store.collection}; migrate without a swap first")
    mark = store.mark(shadow)
    if mark is None:
        raise InvalidInputError(f"there is a {shadow} that is not from here: it carries no mark")
    # Halfway there may be no collection whose columns could be found; they were compared before.
    columns = mark.get("columns", {}) if halfway else store.columns
    wanted = mark_of(guard, keep_texts=mark["keep_texts"], left_out=(), columns=columns)
    require_same(mark, wanted, shadow)
