"""One Arrow batch in, its protected rows out: the same function on one machine and on many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from vecveil.artifacts.vectors import vectors_of
from vecveil.core.arrays import Embeddings
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import Embedder, inputs_of
from vecveil.veil.columns import ColumnPlan
from vecveil.veil.embedding import embed_texts
from vecveil.veil.guard import Guard
from vecveil.veil.records import RecordBatch, id_bytes, text_contents, vector_contents, vectors_are_pinned


def clean_vectors(
    plan: ColumnPlan, batch: Any, model: Embedder | None, *, dimensions: int, first_row: int = 0, alone: bool = False
) -> Embeddings:
    """Return the clean vectors of a batch.

    Args:
        plan: Which of its columns is what.
        batch: The rows.
        model: Embeds them where they are texts; None where they are vectors.
        dimensions: Length of a vector.
        first_row: Number of the first row in errors.
        alone: Whether texts are embedded one by one.
    """
    column = batch.column(plan.column)
    if model is None:
        return vectors_of(column, dimensions=dimensions, first_row=first_row)
    return embed_texts(model, column.to_pylist(), first_row=first_row, alone=alone)


def named_records(
    plan: ColumnPlan,
    batch: Any,
    model: Embedder | None,
    *,
    dimensions: int,
    first_row: int = 0,
    clean: Embeddings | None = None,
    keyed: bool = True,
) -> RecordBatch:
    """Return what the records of a batch are called.

    Args:
        plan: Which of its columns is what.
        batch: The rows.
        model: Embeds them where they are texts; None where they are vectors.
        dimensions: Length of a vector.
        first_row: Number of the first row in errors.
        clean: Their clean vectors, where they are known. Unless the model is pinned, nobody knows the noise of texts
            without them.
        keyed: Whether noise depends on what records are called; where it doesn't, an id is all there is to know.
    """
    column = batch.column(plan.column)
    ids = None if plan.ids is None else id_bytes(batch.column(plan.ids).to_pylist(), first_row=first_row)
    if ids is not None and not keyed:
        return RecordBatch(ids, None)
    if model is None:
        vectors = vectors_of(column, dimensions=dimensions, first_row=first_row)
        return RecordBatch.of(vector_contents(embeddings(vectors, first_row=first_row)), ids)
    texts = column.to_pylist()
    contents = text_contents(texts)
    if not keyed:
        return RecordBatch.of(contents, ids)
    if vectors_are_pinned(model):
        return RecordBatch.of(contents, ids, seen=inputs_of(model, texts))
    if clean is None:
        return replace(RecordBatch.of(contents, ids), names=None)
    return RecordBatch.of(contents, ids, seen=vector_contents(clean))


def has_text(plan: ColumnPlan, batch: Any) -> list[bool]:
    """Return for each row whether there is a text in it."""
    return [bool(text and text.strip()) for text in batch.column(plan.column).to_pylist()]


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchProtection:
    """Protects Arrow batches, wherever it is sent.

    The noise must come from a key: engines run a part again when a worker is lost, and fresh noise would make two
    releases of it.

    Attributes:
        guard: The veil, its budget, its key and its ledger, by names and paths that hold on every worker.
        plan: Which columns are what.
        schema: Arrow schema of the output.
        skip_empty: Whether rows without a text are left out.
    """

    guard: Guard
    plan: ColumnPlan
    schema: Any
    skip_empty: bool = False

    def __post_init__(self) -> None:
        if not self.guard.protection.keyed:
            raise InvalidInputError("an engine may run a part twice: protect with a key, so that it comes out the same")

    def __call__(self, batch: Any) -> Any:
        """Return the protected rows of a batch, in its order."""
        if self.skip_empty and self.plan.is_text:
            batch = batch.take([row for row, filled in enumerate(has_text(self.plan, batch)) if filled])
        guard = self.guard
        model = guard.model if self.plan.is_text else None
        clean = clean_vectors(self.plan, batch, model, dimensions=guard.dimensions, alone=True)
        records = named_records(self.plan, batch, model, dimensions=guard.dimensions, clean=clean)
        return self.plan.output_batch(batch, self.schema, guard.release(clean, records))

    def __reduce__(self) -> tuple[Any, ...]:
        settings = tuple(sorted(self.guard.settings().items()))
        return _arrived, (settings, self.plan, self.schema, self.skip_empty)


def _arrived(settings: tuple[tuple[str, Any], ...], plan: ColumnPlan, schema: Any, skip_empty: bool) -> BatchProtection:
    return BatchProtection(guard=_shared_guard(settings), plan=plan, schema=schema, skip_empty=skip_empty)


@lru_cache(maxsize=4)
def _shared_guard(settings: tuple[tuple[str, Any], ...]) -> Guard:
    """Return one guard for all parts that a worker is given: it loads the model and opens the ledger once."""
    return Guard.of(dict(settings))
