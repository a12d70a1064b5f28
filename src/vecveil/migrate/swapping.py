"""The swap: the shadow takes the collection's name, and the collection stays, under another."""

from __future__ import annotations

from dataclasses import dataclass

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.completeness import require_collection, require_complete
from vecveil.migrate.marking import mark_of, require_same
from vecveil.migrate.store import Store, backup_of, shadow_of
from vecveil.veil import Guard


@dataclass(frozen=True, kw_only=True)
class Swap:
    """What was done.

    Attributes:
        rows: Rows in the collection, all of them protected.
        backup: Where the clean vectors are now, and the texts; delete it when it is no longer needed.
        before: Whether an earlier call had done it all.
    """

    rows: int
    backup: str
    before: bool


def swap(store: Store, guard: Guard) -> Swap:
    """Give the collection's name to its shadow; refused unless the shadow has exactly the collection's rows.

    Safe to repeat: one that was stopped goes on, and one that is done stays done.

    Args:
        store: The store, opened for the collection.
        guard: What the shadow was protected with.
    """
    collection = store.collection
    shadow, backup = shadow_of(collection), backup_of(collection)
    kept = store.count(backup)
    halfway = kept is not None and store.halfway(backup)
    if not halfway:
        rows = require_collection(store)
        if store.mark(collection) is not None:
            if kept is None:
                raise InvalidInputError(f"{collection} holds protected vectors already, as it says itself")
            return Swap(rows=rows, backup=backup, before=True)
    if store.count(shadow) is None:
        raise InvalidInputError(f"there is no {shadow} to swap with {collection}; migrate without a swap first")
    mark = store.mark(shadow)
    if mark is None:
        raise InvalidInputError(f"there is a {shadow} that is not from here: it carries no mark")
    require_same(mark, mark_of(guard, keep_texts=mark["keep_texts"], left_out=()), shadow)
    if kept is not None and not halfway:
        raise InvalidInputError(f"there is a {backup} already; rename or delete it, and swap again")
    # Stopped between two renames, a collection has its backup's name only.
    clean = collection if store.count(collection) is not None else backup
    rows = require_complete(store, clean, shadow)
    store.finish(shadow)
    store.swap(shadow, backup)
    return Swap(rows=rows, backup=backup, before=False)
