"""A file of texts or vectors in, a file of protected vectors out: in batches, resumable, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vecveil.artifacts import ResumableOutput, Source, open_source
from vecveil.artifacts.parquet_types import require_parquet
from vecveil.artifacts.vectors import vectors_of
from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least
from vecveil.core.digests import file_digest
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.columns import ColumnPlan
from vecveil.veil.embedding import embed_texts
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
    """

    rows: int
    resumed: int
    skipped: int
    carried: tuple[str, ...]
    dropped: tuple[str, ...]


def protect_file(
    veil: Veil,
    source: str | Path,
    output: str | Path,
    *,
    epsilon: float | None = None,
    text_column: str | None = None,
    vector_column: str | None = None,
    keep: tuple[str, ...] = (),
    skip_empty: bool = False,
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
        keep: Columns to carry through that would be left out for safety: texts, clean vectors, annotations.
        skip_empty: Leave rows without a text out; otherwise one such row is an error, before any work is done.
        batch_rows: Rows that are protected and written together: the most that a kill can cost. 256 texts or 8,192
            vectors where None.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        overwrite: Whether an existing output may be replaced.
        progress: Told how far the work is.
    """
    source, output = Path(source), Path(output)
    sheet = veil.guarantee(epsilon=epsilon)
    table = open_source(source)
    if table.rows == 0:
        raise InvalidInputError(f"{source} has no rows")
    if source.resolve() == output.resolve():
        raise InvalidInputError(f"the output must be another file than the input, got {output} for both")
    _require_clean(source, table)
    plan = ColumnPlan.of(
        table.schema,
        text=text_column,
        vectors=vector_column,
        keep=keep,
        vectors_only=output.suffix == ".npy",
        sample=next(table.batches(SAMPLE)),
    )
    schema = plan.output_schema(table.schema, veil.fingerprint.dimensions)
    require_parquet(schema)
    size = at_least(batch_rows if batch_rows is not None else TEXTS if plan.is_text else VECTORS, 1, "batch_rows")
    label = {
        "vecveil": version("vecveil"),
        "veil": veil.digest(),
        "mechanism": veil.mechanism,
        "epsilon": sheet.guarantee.epsilon,
        "distance": sheet.guarantee.distance,
        "noise_ratio": sheet.dials.noise_ratio,
        "noise": "secure generator, drawn once per row",
    }
    job = {**label, "input": file_digest(source), "column": plan.column, "columns": schema.names, "skip": skip_empty}

    with ResumableOutput.open(output, job, overwrite=overwrite) as target:
        rows = _rows_with_text(table, plan, skip_empty=skip_empty) if plan.is_text else table.rows
        # Late, because it can take long and everything that a user can get wrong has been looked at by now.
        model = veil.embedder(embedder, cache=None if cache is None else Path(cache)) if plan.is_text else None
        resumed = target.rows
        batches = _after(_with_text(table.batches(size), plan), resumed)
        for batch in progress(batches, label="protecting", total=rows - resumed, weigh=lambda part: part.num_rows):
            clean = _clean_vectors(batch, plan, veil, model, first_row=target.rows)
            protected = veil.perturb(clean, epsilon=epsilon, first_row=target.rows)
            target.append(plan.output_batch(batch, schema, protected))
        if target.rows != rows:
            raise InvalidInputError(f"{source} changed while it was read: {rows} rows, then {target.rows}")
        target.finish(schema, label)
    return ProtectReport(
        rows=rows, resumed=resumed, skipped=table.rows - rows, carried=plan.carried, dropped=plan.dropped
    )


def _require_clean(source: Path, table: Source) -> None:
    """Raise if the input is an output: noise on noise protects no better, and hides that it was done."""
    beside = source.with_name(f"{source.name}.json")
    labelled = source.suffix == ".npy" and beside.is_file() and b'"vecveil"' in beside.read_bytes()
    if labelled or b"vecveil" in (table.schema.metadata or {}):
        raise InvalidInputError(f"{source} holds protected vectors already, as it says itself; protect the original")


def _rows_with_text(table: Source, plan: ColumnPlan, *, skip_empty: bool) -> int:
    """Return how many rows have a text, or raise unless all have one or the others may be left out.

    A look at every row before the first is embedded: one blank note at the end must not cost the hours before it.
    """
    start, filled, first = 0, 0, None
    for batch in table.batches(VECTORS):
        mask = _has_text(batch, plan)
        if first is None and not all(mask):
            first = start + mask.index(False)
        start, filled = start + len(mask), filled + sum(mask)
    if first is not None and not skip_empty:
        more = f" ({start - filled} rows have none)" if start - filled > 1 else ""
        raise InvalidRowError(first, f"has no text{more}; leave such rows out with skip_empty=True (--skip-empty)")
    if filled == 0:
        raise InvalidInputError(f"none of the {start} rows has a text")
    return filled


def _with_text(batches: Iterator[Any], plan: ColumnPlan) -> Iterator[Any]:
    """Yield batches without the rows that have no text."""
    for batch in batches:
        mask = _has_text(batch, plan) if plan.is_text else [True]
        kept = batch if all(mask) else batch.take([row for row, has in enumerate(mask) if has])
        if kept.num_rows:
            yield kept


def _has_text(batch: Any, plan: ColumnPlan) -> list[bool]:
    return [bool(text and text.strip()) for text in batch.column(plan.column).to_pylist()]


def _clean_vectors(batch: Any, plan: ColumnPlan, veil: Veil, model: Embedder | None, *, first_row: int) -> Embeddings:
    column = batch.column(plan.column)
    if model is None:
        return vectors_of(column, dimensions=veil.fingerprint.dimensions, first_row=first_row)
    return embed_texts(model, column.to_pylist(), first_row=first_row)


def _after(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Yield what follows the first `rows` rows."""
    for batch in batches:
        if rows >= batch.num_rows:
            rows -= batch.num_rows
        else:
            yield batch.slice(rows)
            rows = 0
