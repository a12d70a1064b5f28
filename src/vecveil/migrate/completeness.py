"""Whether a collection is there and can be swapped later, and whether its shadow has all of it."""

from __future__ import annotations

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.store import BATCH_ROWS, Store, backup_of, shadow_of

STOPPED = "a swap of it was stopped; repeat the swap (--swap), which goes on"
"""What to do where the name is free because a swap had no time to give it away."""


def require_collection(store: Store) -> int:
    """Return how many rows the collection has, or raise, naming those that there are, where there is none."""
    rows = store.count(store.collection)
    if rows is not None:
        return rows
    backup = backup_of(store.collection)
    kept = store.count(backup)
    if kept is not None and store.halfway(backup):
        raise InvalidInputError(f"there is no {store.collection}, and a {backup} with {kept:,} rows: {STOPPED}")
    known = ", ".join(sorted(store.names())) or "none"
    raise InvalidInputError(f"there is no collection {store.collection!r} in this store (there are: {known})")


def require_swappable(store: Store) -> None:
    """Raise where a swap of the collection would be refused later; asked for before anything is paid."""
    backup = backup_of(store.collection)
    kept = store.count(backup)
    if kept is not None and store.halfway(backup):
        raise InvalidInputError(f"there is a {backup} of {store.collection} with {kept:,} rows: {STOPPED}")
    if kept is not None:
        # Never a word about deleting it: after a swap that something came into, it has the only clean rows.
        raise InvalidInputError(
            f"there is a {backup} already, with {kept:,} rows; they may be the only clean ones that are left, so look "
            "at it, move it out of the way (by renaming or copying), and repeat this"
        )
    store.require_swappable(backup)


def require_complete(store: Store, clean: str, shadow: str, *, batch_rows: int = BATCH_ROWS) -> int:
    """Return how many rows a shadow has, or raise unless they are those of the clean collection, no more and no less.

    Args:
        store: The store.
        clean: Name of the clean collection.
        shadow: Name of its shadow.
        batch_rows: Rows that are looked at together.
    """
    wanted, found = store.count(clean) or 0, store.count(shadow) or 0
    if found > wanted:
        raise InvalidInputError(
            f"{shadow} has {found:,} rows and {clean} only {wanted:,}: rows of it were deleted since; delete {shadow}, "
            "and migrate again"
        )
    if found < wanted:
        raise InvalidInputError(
            f"{shadow} has {found:,} rows and {clean} {wanted:,}: the shadow is not complete; migrate again to add "
            "what is missing"
        )
    if not has_ids(store, clean, shadow, batch_rows=batch_rows):
        raise InvalidInputError(
            f"{clean} has changed since: {shadow} has as many rows, but not the same; delete {shadow}, and migrate "
            "again"
        )
    return wanted


def has_ids(store: Store, clean: str, shadow: str, *, batch_rows: int = BATCH_ROWS) -> bool:
    """Return whether a shadow has a row for each row of the clean collection."""
    return all(len(store.present(shadow, batch.ids)) == len(batch) for batch in store.batches(clean, batch_rows))


def was_stopped_between(store: Store, backup: str) -> bool:
    """Return whether a swap that renames twice was stopped after the first time.

    The collection has its backup's name then, and its own is free; or an application that found nothing there has made
    an empty collection of that name.
    """
    shadow = shadow_of(store.collection)
    kept, waiting = store.count(backup), store.count(shadow)
    if kept is None or waiting is None or store.mark(shadow) is None:
        return False
    rows = store.count(store.collection)
    if rows is None:
        return True
    empty = rows == 0 and store.mark(store.collection) is None
    return empty and kept == waiting and has_ids(store, backup, shadow)
