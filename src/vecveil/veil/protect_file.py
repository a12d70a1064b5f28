"""A file of texts or vectors in, a file of protected vectors out: in batches, resumable, whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vecveil.artifacts import ResumableOutput, open_source
from vecveil.artifacts.parquet_types import require_parquet
from vecveil.artifacts.vectors import vectors_of
from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.columns import ColumnPlan
from vecveil.veil.embedding import embed_texts
from vecveil.veil.veil import Veil

SAMPLE = 256
"""First rows that are looked at to see which columns read like text."""

ENDS = 1 << 20
"""Bytes at each end of an input that are compared before a stopped run goes on with it."""


@dataclass(frozen=True, kw_only=True)
class ProtectReport:
    """What was done.

    Attributes:
        rows: Rows in the output.
        resumed: Rows of them that an earlier, stopped run had already protected.
        carried: Columns that went through unchanged.
        dropped: Columns that were left out: texts, clean vectors, annotations, or all where `.npy` has no place.
    """

    rows: int
    resumed: int
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
    batch_rows: int = 1024,
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
        batch_rows: Rows that are protected and written together: the most that a kill can cost.
        embedder: The embedder, where it isn't to be found under the name that the veil was learned with.
        cache: Folder to keep clean embeddings in; as sensitive as the texts.
        overwrite: Whether an existing output may be replaced.
        progress: Told how far the work is.
    """
    source, output = Path(source), Path(output)
    at_least(batch_rows, 1, "batch_rows")
    sheet = veil.guarantee(epsilon=epsilon)
    table = open_source(source)
    if table.rows == 0:
        raise InvalidInputError(f"{source} has no rows")
    if source.resolve() == output.resolve():
        raise InvalidInputError(f"the output must be another file than the input, got {output} for both")
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
    model = veil.embedder(embedder, cache=None if cache is None else Path(cache)) if plan.is_text else None
    label = {
        "vecveil": version("vecveil"),
        "veil": veil.digest(),
        "mechanism": veil.mechanism,
        "epsilon": sheet.guarantee.epsilon,
        "distance": sheet.guarantee.distance,
        "noise": "secure generator, drawn once per row",
    }
    job = {**label, "input": source.name, **_identity(source), "column": plan.column, "columns": schema.names}

    with ResumableOutput.open(output, job, overwrite=overwrite) as target:
        resumed = target.rows
        batches = _after(table.batches(batch_rows), resumed)
        total = -(-(table.rows - resumed) // batch_rows)
        for batch in progress(batches, label="protecting", total=total):
            clean = _clean_vectors(batch, plan, veil, model, first_row=target.rows)
            protected = veil.perturb(clean, epsilon=epsilon, first_row=target.rows)
            target.append(plan.output_batch(batch, schema, protected))
        if target.rows != table.rows:
            raise InvalidInputError(f"{source} changed while it was read: {table.rows} rows, then {target.rows}")
        target.finish(schema, label)
    return ProtectReport(rows=table.rows, resumed=resumed, carried=plan.carried, dropped=plan.dropped)


def _clean_vectors(batch: Any, plan: ColumnPlan, veil: Veil, model: Embedder | None, *, first_row: int) -> Embeddings:
    column = batch.column(plan.column)
    if model is None:
        return vectors_of(column, dimensions=veil.fingerprint.dimensions, first_row=first_row)
    return embed_texts(model, column.to_pylist(), first_row=first_row)


def _identity(source: Path) -> dict[str, Any]:
    """Return what tells a file from another one of its name: its size, its time, and a digest of its two ends."""
    facts = source.stat()
    with source.open("rb") as stream:
        ends = hashlib.sha256(stream.read(ENDS))
        stream.seek(max(0, facts.st_size - ENDS))
        ends.update(stream.read(ENDS))
    return {"bytes": facts.st_size, "modified": facts.st_mtime_ns, "ends": ends.hexdigest()}


def _after(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Yield what follows the first `rows` rows."""
    for batch in batches:
        if rows >= batch.num_rows:
            rows -= batch.num_rows
        else:
            yield batch.slice(rows)
            rows = 0
