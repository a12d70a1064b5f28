"""Migration of a collection into its shadow, in batches."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.migrate import protection
from vecveil.migrate.fields import FieldPath, TextFinder, remove_fields
from vecveil.migrate.store import BATCH_ROWS, Store, require_same_mark
from vecveil.migrate.swapping import require_collection, require_complete, require_swappable, require_unchanged
from vecveil.veil import Guard

NO_TEXTS = "none"
"""In the place of a field of texts: protect the vectors as they are."""


@dataclass(frozen=True, kw_only=True)
class Migration:
    """The result of a migration.

    Attributes:
        shadow: Name of the shadow.
        rows: Rows in it.
        resumed: Rows of them that were there already.
        left_out: Fields that were left out: texts and what reads like them, lists of numbers, other vectors.
        carried: Fields that were kept, as they are.
        recorded: Whether the releases are recorded in a ledger.
        text_field: Field of the texts that the model read again without their private words; None where the vectors
            were protected as they are.
    """

    shadow: str
    rows: int
    resumed: int
    left_out: tuple[str, ...]
    carried: tuple[str, ...]
    recorded: bool
    text_field: str | None


def migrate(
    store: Store,
    guard: Guard,
    *,
    keep_texts: bool = False,
    seal: bool = False,
    text_field: str | None = None,
    batch_rows: int = BATCH_ROWS,
    progress: Progress = silent,
) -> Migration:
    """Protect a collection into a shadow beside it, or resume one; the collection itself is only read.

    Where the model makes vectors of length one, those of the shadow have length one too. What noise does to lengths
    means nothing, and this way any distance that a store knows ranks them by angle; it costs no privacy.

    Args:
        store: The store, opened for the collection.
        guard: What to protect with. Give it a key: without one, rows that a kill takes are noised, and paid for, twice.
        keep_texts: Whether to keep texts, and what reads like them. With the texts, nobody needs vectors to read them.
        seal: Whether to keep the clean vector of each row in the shadow, encrypted for whoever has the guard's key.
        text_field: Field of the texts, such as "metadata.text", where the veil replaces private words: the model reads
            them again without these. Found where None; "none" protects the vectors as they are, private words included.
        batch_rows: Rows that are protected and written together.
        progress: Called as the work advances.
    """
    at_least(batch_rows, 1, "batch_rows")
    collection, shadow = store.collection, store.shadow
    rows = require_collection(store)
    if store.read_mark(collection) is not None:
        raise InvalidInputError(
            f"{collection} holds protected vectors already, as it says itself: it was swapped before, and rows written "
            "since are as their writer made them"
        )
    require_swappable(store)
    if rows == 0:
        raise InvalidInputError(f"{collection} has no rows")
    finder = _look_at_rows(store, guard, batch_rows, rows, progress=progress)
    left_out = [list(path) for path in (finder.find_vectors() if keep_texts else finder.find_texts())]
    seals = guard.sealer.label() if seal else None
    if seal and any(path[: len(store.seal_path)] == store.seal_path for path in finder.find_others(())):
        raise InvalidInputError(f"rows of {collection} have a field {_to_name(store.seal_path)}, where seals belong")
    text = _choose_text_field(store, guard, finder, text_field, rows)
    chosen = {"keep_texts": keep_texts, "columns": dict(store.columns), "left_out": left_out, "seals": seals}
    mark = {**protection.mark_guard(guard, text), **chosen}
    resumed = store.count(shadow)
    if resumed is not None:
        found = store.read_mark(shadow)
        if found is None:
            raise InvalidInputError(f"there is a {shadow} that is not from here: it has no mark; rename or delete it")
        require_same_mark(found, mark, shadow)
        mark = found
    batches = store.read_batches(collection, batch_rows)
    waiting = batches if resumed is None else (one.without(store.find_present(one.ids)) for one in batches)
    protection.require_affordable(guard, waiting, text, progress=progress)
    if resumed is None:
        store.create_shadow(mark)
    gone = [tuple(path) for path in mark["left_out"]]
    for batch in progress(store.read_batches(collection, batch_rows), label="protecting", total=rows, weigh=len):
        new = batch.without(store.find_present(batch.ids))
        if len(new):
            vectors = protection.protect_rows(guard, new, text)
            new = replace(new, payload=[remove_fields(row, gone) for row in new.payload])
            payload = protection.seal_rows(guard, new, store) if seal else new.payload
            store.append(replace(new, vectors=vectors, payload=payload))
    rows = require_complete(store, collection, batch_rows=batch_rows)
    store.finish_shadow()
    if resumed:
        # Rows may have changed since an earlier run wrote them.
        require_unchanged(store, guard, collection, batch_rows=batch_rows, progress=progress)
    return Migration(
        shadow=shadow,
        rows=rows,
        resumed=resumed or 0,
        left_out=(*map(_to_name, gone), *store.other_vectors),
        carried=tuple(map(_to_name, finder.find_others(gone))),
        recorded=guard.release.ledger is not None,
        text_field=None if text is None else _to_name(text),
    )


def _look_at_rows(store: Store, guard: Guard, batch_rows: int, rows: int, *, progress: Progress) -> TextFinder:
    """Return a finder that has looked at every row, or raise before the first release unless all can be protected."""
    finder, row = TextFinder(guard.finder), 0
    batches = store.read_batches(store.collection, batch_rows)
    for batch in progress(batches, label="looking", total=rows, weigh=len):
        protection.check_rows(guard, batch, first_row=row)
        finder.add(batch.payload)
        row += len(batch)
    return finder


def _choose_text_field(
    store: Store, guard: Guard, finder: TextFinder, named: str | None, rows: int
) -> FieldPath | None:
    """Return the field of the texts that the vectors are of, or raise where one is named and they are not of it."""
    if guard.release.words is None or named == NO_TEXTS:
        return None
    known = finder.find_full_texts(rows) if named is None else [tuple(named.split("."))]
    batch = next(iter(store.read_batches(store.collection, protection.SAMPLED)))
    if named is not None and not finder.holds_texts(known[0], rows):
        raise InvalidInputError(f"not every row of {store.collection} has a text in the field {named!r}")
    found = protection.find_text_field(guard, batch, known) if known else None
    if named is not None and found is None:
        raise InvalidInputError(
            f"the vectors of {store.collection} are not those that {guard.opened_veil.fingerprint.model} makes of the "
            f"texts in {named!r}; with --text-field {NO_TEXTS} the vectors are protected as they are"
        )
    return found


def _to_name(path: FieldPath) -> str:
    # The payload as a whole has no name; it is left out where its fields are too many, or have texts for names.
    return ".".join(path) or "all fields, as they are too many or have texts for names"
