"""Protection of a file: in batches, resumable, whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from vecveil.core.checks import at_least
from vecveil.core.digests import file_digest
from vecveil.core.errors import InvalidInputError, InvalidRowError, VecveilWarning
from vecveil.core.key import Key
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.files import ResumableOutput, Source, open_source
from vecveil.files.vectors import read_vectors
from vecveil.veil.batches import has_text, protect_batch, take_filled
from vecveil.veil.columns import ColumnPlan, find_private_columns
from vecveil.veil.ledger_run import NO_LEDGER, choose_ledger
from vecveil.veil.release import Release, ReleaseSettings, digest_contents, encode_ids, identify_contents
from vecveil.veil.seal import choose_seal_key
from vecveil.veil.values import ConceptFinder
from vecveil.veil.veil import Veil, without_texts

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
        dropped: Columns that were left out: texts, clean vectors, annotations, what the concept finds words in, or all
            where `.npy` has no place.
        private: Those of them that were left out because the concept finds words in them.
        searched: Whether the concept was known, to look for it in columns that go along.
        run: Name of the run in the ledger, and in the output's label.
        recorded: Whether it stands in a ledger.
        sealed: Whether seals stand beside the protected vectors.
    """

    rows: int
    resumed: int
    skipped: int
    carried: tuple[str, ...]
    dropped: tuple[str, ...]
    private: tuple[str, ...]
    searched: bool
    run: str
    recorded: bool
    sealed: bool


def protect_file(
    veil: Veil,
    source: str | Path,
    output: str | Path,
    *,
    text_column: str | None = None,
    vector_column: str | None = None,
    id_column: str | None = None,
    group_column: str | None = None,
    annotations_column: str | None = None,
    keep: tuple[str, ...] = (),
    skip_empty: bool = False,
    seed: int | None = None,
    batch_rows: int | None = None,
    embedder: str | Embedder | None = None,
    cache: str | Path | None = None,
    seal: bool = False,
    seal_key: Key | str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = silent,
    **settings: Unpack[ReleaseSettings],
) -> ProtectReport:
    """Protect every row of `source` into `output`.

    Args:
        veil: What to protect with.
        source: Texts (Parquet, Arrow, JSONL, CSV, TSV, lines) or vectors (Parquet, Arrow, `.npy`).
        output: Parquet (ids and other columns go along) or `.npy` (vectors only).
        text_column: Column of texts; "text" where neither column is named and there is one.
        vector_column: Column of vectors that the veil's embedder made.
        id_column: Column that says which record a row is, for the ledger and for keyed noise; its text or vector says
            it where None.
        group_column: Column that says which texts belong together, such as those of one person: with a key, a private
            value has one outcome in all of them.
        annotations_column: Column of annotations, for concepts that read them; "entities" where None.
        keep: Columns to carry through that would be left out for safety: texts, clean vectors, annotations, columns in
            which the concept finds words.
        skip_empty: Leave rows without a text out; otherwise one such row is an error, before any work is done.
        seed: For tests and published experiments only: noise from a seed is not private, and the output says so.
        batch_rows: Rows that are protected and written together, which a kill can cost; 256 texts or 8,192 vectors
            where None.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        seal: Whether to write a column "seal" beside the protected vectors: the clean ones, encrypted for whoever has
            the key, each bound to the id of its row.
        seal_key: The key of the seals, or its file; that of the noise where None.
        overwrite: Whether an existing output may be replaced.
        progress: Told how far the work is.
        **settings: Budget, key, ledger, collection and grid: see `ReleaseSettings`.
    """
    source, output = Path(source), Path(output)
    if seed is not None:
        settings["rng"] = np.random.default_rng(at_least(seed, 0, "seed"))
    collection = settings.pop("collection", "")
    ledger = settings.pop("ledger", None) if seed is not None else choose_ledger(settings.pop("ledger", None))
    settings["ledger"] = NO_LEDGER
    release = veil.release(**settings)
    sealer = veil.sealer(choose_seal_key(seal_key, settings.get("key"))) if seal else None
    table = _open_clean(source)
    if source.resolve() == output.resolve():
        raise InvalidInputError(f"the output must be another file than the input, got {output} for both")
    finder = ConceptFinder(settings.get("concept") or veil.concept)
    plan = ColumnPlan.for_schema(
        table.schema,
        text=text_column,
        vectors=vector_column,
        ids=id_column,
        groups=group_column,
        keep=keep,
        vectors_only=output.suffix == ".npy",
        seals=seal,
        sample=next(table.batches(SAMPLE)),
    )
    plan = plan.read_annotations(release.words, table.schema, annotations_column)
    release = release if plan.is_text else _protect_vectors_alone(release)
    veil.warn_of_noise(release.mechanism.epsilon)
    private = _search_columns(table, plan, finder, progress=progress)
    plan = plan.leave_out(private, finder)
    schema = plan.output_schema(table.schema, veil.fingerprint.dimensions, release.grid.kind)
    ResumableOutput.require_free(output, overwrite=overwrite)
    size = at_least(batch_rows if batch_rows is not None else TEXTS if plan.is_text else VECTORS, 1, "batch_rows")
    rows = _Rows(table=table, plan=plan)
    # Vectors that no ledger knows of are protected again in less time than it takes to look at them twice.
    precious = plan.is_text or ledger is not None
    with ExitStack() as held:
        total = rows.count(skip_empty=skip_empty)
        if ledger is not None:
            # Opened once before anything is made, so that a broken one is heard of.
            release = held.enter_context(release.record_in(ledger, collection=collection))
        seals = {} if sealer is None else {"seals": sealer.label()}
        label = {**release.label(), **seals, "ledger": "none" if release.ledger is None else release.ledger.id}
        job = {
            **label,
            "input": file_digest(source) if precious else "",
            "column": plan.column,
            "ids": plan.ids,
            "groups": plan.groups,
            "annotations": plan.annotations,
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
        if release.ledger is not None:
            release.ledger.resume(release.charge(target.run), resumed)
        # All of it before the first release: what is spent on a run that can't be finished is spent for nothing.
        if precious or seal:
            rows.check(release, sealed=seal)
            rows.check_budget(release, after=resumed, progress=progress)
        # Late, because it can take long and most that a user can get wrong has been looked at by now.
        model = veil.embedder(embedder, cache=None if cache is None else Path(cache)) if plan.is_text else None
        batches = rows.batches(size, after=resumed)
        for batch in progress(batches, label="protecting", total=total - resumed, weigh=lambda part: part.num_rows):
            if release.ledger is not None:
                # From here on the ledger may know the name of this run, so it must be kept, whatever happens.
                target.begin()
            protected = protect_batch(release, plan, batch, model, sealer, first_row=target.rows)
            target.append(plan.output_batch(batch, schema, protected, finder))
        if target.rows != total:
            raise InvalidInputError(f"{source} changed while it was read: {total} rows, then {target.rows}")
        target.finish(None if release.ledger is None else release.ledger.notes())
    return ProtectReport(
        rows=total,
        resumed=resumed,
        skipped=table.rows - total,
        carried=plan.carried,
        dropped=plan.dropped,
        private=private,
        searched=finder.looks,
        run=target.run,
        recorded=ledger is not None,
        sealed=seal,
    )


def _protect_vectors_alone(release: Release) -> Release:
    if release.words is not None:
        warnings.warn(without_texts(release.words.substitution.name), VecveilWarning, stacklevel=3)
    return release.for_vectors()


def _open_clean(source: Path) -> Source:
    """Return what is in a file, or raise if it is an output: noise on noise protects no better, and hides it."""
    table = open_source(source)
    if table.rows == 0:
        raise InvalidInputError(f"{source} has no rows")
    beside = source.with_name(f"{source.name}.json")
    labeled = source.suffix == ".npy" and beside.is_file() and b'"vecveil"' in beside.read_bytes()
    if labeled or b"vecveil" in (table.schema.metadata or {}):
        raise InvalidInputError(f"{source} holds protected vectors already, as it says itself; protect the original")
    return table


def _search_columns(table: Source, plan: ColumnPlan, finder: ConceptFinder, *, progress: Progress) -> tuple[str, ...]:
    """Return the columns that would go along, and in which the concept finds words; all rows are looked at."""
    waiting, found = list(plan.searched), []
    if waiting and finder.looks:
        batches = table.batches(VECTORS, columns=waiting)
        for batch in progress(batches, label="searching columns", total=table.rows, weigh=lambda part: part.num_rows):
            for name in find_private_columns(batch, waiting, finder):
                waiting.remove(name)
                found.append(name)
    return tuple(name for name in plan.searched if name in found)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Rows:
    """The rows of a table that have something to protect.

    Attributes:
        table: The input.
        plan: Which of its columns is what.
    """

    table: Source
    plan: ColumnPlan

    def count(self, *, skip_empty: bool) -> int:
        """Return how many rows have a text, or raise unless all have one or the others may be left out.

        A look at every row before the first is embedded: one blank note at the end must not cost the hours before it.
        """
        if not self.plan.is_text:
            return self.table.rows
        start, filled, first = 0, 0, None
        for batch in self.table.batches(VECTORS):
            mask = has_text(self.plan, batch)
            if first is None and not all(mask):
                first = start + mask.index(False)
            start, filled = start + len(mask), filled + sum(mask)
        if first is not None and not skip_empty:
            more = f" ({start - filled} rows have none)" if start - filled > 1 else ""
            raise InvalidRowError(first, f"has no text{more}; leave such rows out with skip_empty=True (--skip-empty)")
        if filled == 0:
            raise InvalidInputError(f"none of the {start} rows has a text")
        return filled

    def check(self, release: Release, *, sealed: bool) -> None:
        """Raise unless all rows can be protected; of the vectors of texts, no one knows before."""
        ids = self.plan.ids if release.is_keyed or release.ledger is not None or sealed else None
        if self.plan.is_text and ids is None:
            return
        start = 0
        for batch in self.table.batches(VECTORS):
            if not self.plan.is_text:
                release.check(self._vectors(batch, release, start), first_row=start)
            if ids is not None and batch.column(ids).null_count:
                mask = has_text(self.plan, batch)
                for row, value in enumerate(batch.column(ids).to_pylist()):
                    if mask[row]:
                        encode_ids([value], first_row=start + row)
            start += batch.num_rows

    def check_budget(self, release: Release, *, after: int, progress: Progress) -> None:
        """Raise unless every record can afford the whole run, as far as that is known before texts are embedded.

        Keyed noise of texts has no name before: a release that was made before would cost nothing, and one that is
        refused later is not lost, since the same key makes it again. So nothing is refused here then.
        """
        if release.ledger is None or (self.plan.is_text and release.is_keyed):
            return

        def records() -> Iterator[tuple[Sequence[bytes], Sequence[bytes] | None]]:
            row = after
            for batch in self.batches(VECTORS, after=after):
                ids = None if self.plan.ids is None else batch.column(self.plan.ids).to_pylist()
                if self.plan.is_text:
                    texts = batch.column(self.plan.column).to_pylist()
                    contents = identify_contents(digest_contents(texts))
                    yield contents if ids is None else encode_ids(ids, first_row=row), None
                else:
                    yield release.name_records(self._vectors(batch, release, row), ids, first_row=row)
                row += batch.num_rows

        release.ledger.check(records(), progress=progress)

    def batches(self, size: int, *, after: int = 0) -> Iterator[Any]:
        """Yield the rows in batches of at most `size`, without the first `after`."""
        for batch in self.table.batches(size):
            kept = take_filled(self.plan, batch)
            if after >= kept.num_rows:
                after -= kept.num_rows
            else:
                yield kept.slice(after)
                after = 0

    def _vectors(self, batch: Any, release: Release, first_row: int) -> Any:
        return read_vectors(batch.column(self.plan.column), dimensions=release.model.dimensions, first_row=first_row)
