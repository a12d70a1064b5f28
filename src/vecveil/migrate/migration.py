"""A collection into its shadow: in batches, each row once, whatever was killed where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from vecveil.accounting.ledger import new_run
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.migrate.changes import protected, require_unchanged
from vecveil.migrate.completeness import require_collection, require_complete, require_swappable
from vecveil.migrate.fields import FieldPath, without
from vecveil.migrate.marking import mark_of, require_same
from vecveil.migrate.store import BATCH_ROWS, Store, shadow_of
from vecveil.migrate.texts import TextFinder
from vecveil.veil import Guard
from vecveil.veil.recording import Recording, opened
from vecveil.veil.records import RecordBatch, id_bytes, vector_contents


@dataclass(frozen=True, kw_only=True)
class Migration:
    """What was done.

    Attributes:
        shadow: Name of the shadow.
        rows: Rows in it.
        resumed: Rows of them that were there already.
        left_out: Fields that did not go along: texts and what reads like them, lists of numbers, other vectors.
        carried: Fields that did, as they are.
        recorded: Whether the releases stand in a ledger.
    """

    shadow: str
    rows: int
    resumed: int
    left_out: tuple[str, ...]
    carried: tuple[str, ...]
    recorded: bool


def migrate(
    store: Store, guard: Guard, *, keep_texts: bool = False, batch_rows: int = BATCH_ROWS, progress: Progress = silent
) -> Migration:
    """Protect a collection into a shadow beside it, or go on with one; the collection itself is only read.

    Vectors of a model that makes them of length one have length one in the shadow too. What noise does to their lengths
    means nothing, and this way any distance that a store knows ranks them by angle; it costs no privacy.

    Args:
        store: The store, opened for the collection.
        guard: What to protect with. Give it a key: without one, rows that a kill takes are noised, and paid for, twice.
        keep_texts: Whether texts, and what reads like them, go along. Whoever has the texts needs no vectors to read
            them.
        batch_rows: Rows that are protected and written together.
        progress: Told how far the work is.
    """
    at_least(batch_rows, 1, "batch_rows")
    collection, shadow = store.collection, shadow_of(store.collection)
    rows = require_collection(store)
    if store.mark(collection) is not None:
        raise InvalidInputError(
            f"{collection} holds protected vectors already, as it says itself: it was swapped before, and rows written "
            "since are as their writer made them"
        )
    require_swappable(store)
    if rows == 0:
        raise InvalidInputError(f"{collection} has no rows")
    finder = _looked_at(store, guard, batch_rows, rows, progress=progress)
    left_out = finder.vectors() if keep_texts else finder.found()
    mark = mark_of(guard, keep_texts=keep_texts, left_out=left_out, columns=store.columns)
    resumed = store.count(shadow)
    found = None if resumed is None else store.mark(shadow)
    if found is not None:
        require_same(found, mark, shadow)
    elif resumed is not None:
        raise InvalidInputError(f"there is a {shadow} that is not from here: it carries no mark; rename or delete it")
    _require_affordable(store, guard, batch_rows, begun=resumed is not None, progress=progress)
    if found is None:
        store.create(shadow, mark)
    gone = [tuple(path) for path in (found or mark)["left_out"]]
    batches = store.batches(collection, batch_rows)
    for batch in progress(batches, label="protecting", total=rows, weigh=len):
        new = batch.without(store.present(shadow, batch.ids))
        if len(new):
            payload = [without(row, gone) for row in new.payload]
            store.append(shadow, replace(new, vectors=protected(guard, new), payload=payload))
    rows = require_complete(store, collection, shadow, batch_rows=batch_rows)
    store.finish(shadow)
    if resumed:
        # What an earlier run wrote may be of rows that have changed since.
        require_unchanged(store, guard, collection, shadow, batch_rows=batch_rows, progress=progress)
    return Migration(
        shadow=shadow,
        rows=rows,
        resumed=resumed or 0,
        left_out=(*map(_name, gone), *store.never),
        carried=tuple(map(_name, finder.others(gone))),
        recorded=guard.ledger is not None,
    )


def _looked_at(store: Store, guard: Guard, batch_rows: int, rows: int, *, progress: Progress) -> TextFinder:
    """Return who knows which fields are texts, or raise unless every row can be protected.

    All of it before the first release: what is spent on a migration that can't be finished is spent for nothing.
    """
    finder, row = TextFinder(), 0
    for batch in progress(store.batches(store.collection, batch_rows), label="looking", total=rows, weigh=len):
        guard.protection.checked(batch.vectors, first_row=row)
        id_bytes(batch.ids, first_row=row)
        finder.look(batch.payload)
        row += len(batch)
    return finder


def _require_affordable(store: Store, guard: Guard, batch_rows: int, *, begun: bool, progress: Progress) -> None:
    if guard.ledger is None:
        return
    shadow = shadow_of(store.collection)

    def waiting() -> Iterator[RecordBatch]:
        for batch in store.batches(store.collection, batch_rows):
            new = batch.without(store.present(shadow, batch.ids)) if begun else batch
            yield RecordBatch.of(vector_contents(new.vectors), id_bytes(new.ids))

    with opened(guard.ledger) as book:
        recording = Recording(ledger=book, protection=guard.protection, run=new_run(), collection=guard.collection)
        recording.require(waiting(), progress=progress)


def _name(path: FieldPath) -> str:
    # The payload as a whole has no name; it is left out where its fields are too many, or have texts for names.
    return ".".join(path) or "all fields, as they are too many or have texts for names"
