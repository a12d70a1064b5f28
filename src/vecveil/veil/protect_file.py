"""A file of texts or vectors in, a file of protected vectors out: in batches, resumable, whole or not at all."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from vecveil.accounting.ledger import Ledger
from vecveil.artifacts import ResumableOutput, Source, open_source
from vecveil.core.ahead import one_ahead
from vecveil.core.checks import at_least
from vecveil.core.digests import file_digest
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.columns import ColumnPlan
from vecveil.veil.noise import seeded_generator
from vecveil.veil.recording import Recording, opened
from vecveil.veil.rows import Rows
from vecveil.veil.veil import Veil

SAMPLE = 256
"""First rows that are looked at to see which columns read like text."""

TEXTS, VECTORS = 256, 8192
"""Rows per batch: of texts, which take long to embed, and of vectors, which don't."""


@dataclass(frozen=True, kw_only=True)
class ProtectReport:
    """What was done.

    Attributes:
        rows: Rows in the output.
        resumed: Rows of them that an earlier, stopped run had already protected.
        skipped: Rows of the input that have no text and were left out.
        carried: Columns that went through unchanged.
        dropped: Columns that were left out: texts, clean vectors, annotations, or all where `.npy` has no place.
        run: Name of the run in the ledger, and in the output's label.
        recorded: Whether it stands in a ledger.
    """

    rows: int
    resumed: int
    skipped: int
    carried: tuple[str, ...]
    dropped: tuple[str, ...]
    run: str
    recorded: bool


def protect_file(
    veil: Veil,
    source: str | Path,
    output: str | Path,
    *,
    epsilon: float | None = None,
    text_column: str | None = None,
    vector_column: str | None = None,
    id_column: str | None = None,
    keep: tuple[str, ...] = (),
    skip_empty: bool = False,
    key: Key | None = None,
    seed: int | None = None,
    grid: str = "float32",
    ledger: Ledger | str | Path | None = None,
    collection: str = "",
    batch_rows: int | None = None,
    embedder: str | Embedder | None = None,
    cache: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
) -> ProtectReport:
    """Protect every row of `source` into `output`.

    Args:
        veil: What to protect with.
        source: Texts (Parquet, Arrow, JSONL, CSV, TSV, lines) or vectors (Parquet, Arrow, `.npy`).
        output: Parquet (ids and other columns go along) or `.npy` (vectors only).
        epsilon: Literal budget; the veil's own where None.
        text_column: Column of texts; "text" where neither column is named and there is one.
        vector_column: Column of vectors that the veil's embedder made.
        id_column: Column that says which record a row is, for the ledger and for keyed noise; its text or vector says
            it where None.
        keep: Columns to carry through that would be left out for safety: texts, clean vectors, annotations.
        skip_empty: Leave rows without a text out; otherwise one such row is an error, before any work is done.
        key: Derives the noise of each record, so that it gets the same again; fresh noise where None.
        seed: For tests and published experiments only: noise from a seed is not private, and the output says so.
        grid: What vectors are rounded to: float32, float16 or int8.
        ledger: Where the releases are recorded: an open ledger, a path, a PostgreSQL URL, "default" for the one of this
            user, None to record nothing.
        collection: What the ids belong to, where a ledger serves several collections.
        batch_rows: Rows that are protected and written together: a kill can cost these, and those that are just being
            written. 256 texts or 8,192 vectors where None.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        overwrite: Whether an existing output may be replaced.
        progress: Told how far the work is.
    """
    source, output = Path(source), Path(output)
    if seed is not None:
        at_least(seed, 0, "seed")
    rng = None if seed is None else seeded_generator(seed)
    protection = veil.protection(epsilon=epsilon, key=key, rng=rng, grid=grid)
    table = _clean_table(source)
    if source.resolve() == output.resolve():
        raise InvalidInputError(f"the output must be another file than the input, got {output} for both")
    plan = ColumnPlan.of(
        table.schema,
        text=text_column,
        vectors=vector_column,
        ids=id_column,
        keep=keep,
        vectors_only=output.suffix == ".npy",
        sample=next(table.batches(SAMPLE)),
    )
    schema = plan.output_schema(table.schema, veil.fingerprint.dimensions, grid)
    ResumableOutput.require_free(output, overwrite=overwrite)
    size = at_least(batch_rows if batch_rows is not None else TEXTS if plan.is_text else VECTORS, 1, "batch_rows")
    rows = Rows(table=table, plan=plan, dimensions=veil.fingerprint.dimensions)
    # Vectors that no ledger knows of are protected again in less time than it takes to look at them twice.
    precious = plan.is_text or ledger is not None
    with ExitStack() as held:
        total = rows.count(skip_empty=skip_empty)
        book = None if ledger is None else held.enter_context(opened(ledger))
        label = {**protection.label(), "ledger": "none" if book is None else book.id}
        job = {
            **label,
            "input": file_digest(source) if precious else "",
            "column": plan.column,
            "ids": plan.ids,
            "collection": collection,
            "columns": schema.names,
            "skip": skip_empty,
            "seed": seed,
        }
        target = held.enter_context(ResumableOutput.open(output, job, overwrite=overwrite))
        target.describe(schema, {**label, "run": target.run}, in_parts=precious)
        if seed is not None and target.rows:
            raise InvalidInputError(
                f"a seeded run can't go on after a stop: its numbers would start anew; delete {output}.parts"
            )
        resumed = target.rows
        named = book is not None or protection.keyed
        # All of it before the first release: what is spent on a run that can't be finished is spent for nothing.
        if precious:
            rows.require(protection, named=named)
        # Late, because it can take long and most that a user can get wrong has been looked at by now.
        model = veil.embedder(embedder, cache=None if cache is None else Path(cache)) if plan.is_text else None
        recording = None
        if book is not None:
            recording = Recording(ledger=book, protection=protection, run=target.run, collection=collection)
            everyone = rows.all_records(model, after=resumed, keyed=protection.keyed)
            recording.require(everyone, first_row=resumed, progress=progress)
        batches = one_ahead(rows.batches(size, after=resumed))
        for batch in progress(batches, label="protecting", total=total - resumed, weigh=lambda part: part.num_rows):
            first_row = target.rows
            clean = rows.vectors(batch, model, first_row=first_row, alone=protection.keyed)
            records, names = None, None
            if named:
                records = rows.records(batch, model, first_row=first_row, clean=clean, keyed=protection.keyed)
                names = records.names
            protected = protection.release(clean, names=names, first_row=first_row)
            if recording is not None and records is not None:
                # Before the vectors are anywhere but in memory: a release that is not recorded would be one too many.
                target.begin()
                recording.spend(records, first_row=first_row)
            target.append(plan.output_batch(batch, schema, protected))
        if target.rows != total:
            raise InvalidInputError(f"{source} changed while it was read: {total} rows, then {target.rows}")
        target.finish()
    return ProtectReport(
        rows=total,
        resumed=resumed,
        skipped=table.rows - total,
        carried=plan.carried,
        dropped=plan.dropped,
        run=target.run,
        recorded=recording is not None,
    )


def _clean_table(source: Path) -> Source:
    """Return what is in a file, or raise if it is an output: noise on noise protects no better, and hides it."""
    table = open_source(source)
    if table.rows == 0:
        raise InvalidInputError(f"{source} has no rows")
    beside = source.with_name(f"{source.name}.json")
    labelled = source.suffix == ".npy" and beside.is_file() and b'"vecveil"' in beside.read_bytes()
    if labelled or b"vecveil" in (table.schema.metadata or {}):
        raise InvalidInputError(f"{source} holds protected vectors already, as it says itself; protect the original")
    return table
