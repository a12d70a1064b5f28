"""Whether a collection is there, and whether its shadow has all of it."""

from __future__ import annotations

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.store import Store


def require_collection(store: Store) -> int:
    """Return how many rows the collection has, or raise, naming those that there are, where there is none."""
    rows = store.count(store.collection)
    if rows is None:
        known = ", ".join(sorted(store.names())) or "none"
        raise InvalidInputError(f"there is no collection {store.collection!r} in this store (there are: {known})")
    return rows


def require_complete(store: Store, clean: str, shadow: str, *, batch_rows: int = 1000) -> int:
    """Return how many rows a shadow has, or raise unless they are those of the clean collection, no more and no less.

    Args:
        store: The store.
        clean: Name of the clean collection.
        shadow: Name of its shadow.
        batch_rows: Rows that are looked at together.
    """
    wanted, found = store.count(clean), store.count(shadow)
    if wanted is None or wanted != found:
        raise InvalidInputError(
            f"{shadow} has {found or 0:,} rows and {clean} {wanted or 0:,}: the shadow is not complete, or the "
            "collection has changed since; migrate again to add what is missing, or delete the shadow to start anew"
        )
    for batch in store.batches(clean, batch_rows):
        missing = len(batch) - len(store.present(shadow, batch.ids))
        if missing:
            raise InvalidInputError(
                f"{clean} has changed since: {shadow} has as many rows, but not the same; delete it to start anew"
            )
    return wanted
