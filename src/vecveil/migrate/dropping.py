"""The end of a backup: its clean rows are deleted for good."""

from __future__ import annotations

from dataclasses import dataclass

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.store import BATCH_ROWS, Store, backup_of
from vecveil.migrate.swapping import require_ours
from vecveil.veil import Guard


@dataclass(frozen=True, kw_only=True)
class Backup:
    """Clean rows, beside a collection that was swapped.

    Attributes:
        name: What they are called.
        rows: How many there are.
        alone: How many of them the collection has not: deleted there since, or written here by what still had the
            collection open when it was swapped.
    """

    name: str
    rows: int
    alone: int


def find_backup(store: Store, guard: Guard) -> Backup:
    """Return the backup of a collection; refused unless the collection was swapped with `guard`, and has one.

    Args:
        store: The store, opened for the collection.
        guard: What the collection was protected with.
    """
    name = backup_of(store.collection)
    rows = store.count(name)
    if store.count(store.collection) is None:
        raise InvalidInputError(f"there is no {store.collection}: nothing of it is dropped")
    require_ours(store, guard)
    if rows is None:
        raise InvalidInputError(f"there is no {name} to drop")
    known = {one for batch in store.batches(store.collection, BATCH_ROWS) for one in batch.ids}
    alone = sum(one not in known for batch in store.batches(name, BATCH_ROWS) for one in batch.ids)
    return Backup(name=name, rows=rows, alone=alone)


def drop_backup(store: Store, guard: Guard) -> Backup:
    """Delete the clean rows of a collection that was swapped, for good, and return what they were.

    What the store itself would leave of them on disk goes too. Copies that were made of it elsewhere can't be reached.

    Args:
        store: The store, opened for the collection.
        guard: What the collection was protected with.
    """
    found = find_backup(store, guard)
    store.drop(found.name)
    return found
