"""Protection of Arrow batches: the same on one machine and on many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.embedders import Embedder
from vecveil.files.vectors import read_vectors
from vecveil.veil.columns import ColumnPlan
from vecveil.veil.embedding import embed_texts
from vecveil.veil.guard import Guard
from vecveil.veil.passages import to_passage
from vecveil.veil.release import Release
from vecveil.veil.seal import SealedRelease, Sealer, protect_and_seal


def has_text(plan: ColumnPlan, batch: Any) -> list[bool]:
    """Return for each row whether there is something to protect in it; vectors always are."""
    if not plan.is_text:
        return [True] * int(batch.num_rows)
    return [bool(text and text.strip()) for text in batch.column(plan.column).to_pylist()]


def take_filled(plan: ColumnPlan, batch: Any) -> Any:
    """Return the rows of a batch that have something to protect."""
    filled = has_text(plan, batch)
    return batch if all(filled) else batch.take([row for row, has in enumerate(filled) if has])


def protect_batch(
    release: Release,
    plan: ColumnPlan,
    batch: Any,
    embedder: Embedder | None,
    sealer: Sealer | None = None,
    *,
    first_row: int = 0,
) -> SealedRelease:
    """Return the protected vectors of a batch, and their seals where there is what seals.

    Args:
        release: What protects them.
        plan: Which columns are what.
        batch: The rows.
        embedder: Embeds them where they are texts.
        sealer: Seals their clean vectors; no seals where None.
        first_row: Number of the first row in an error.
    """
    if not batch.num_rows:
        return SealedRelease(np.empty((0, release.model.dimensions), dtype=release.grid.dtype), [])
    column = batch.column(plan.column)
    ids = None if plan.ids is None else batch.column(plan.ids).to_pylist()
    if embedder is not None:
        model = embedder
        groups = None if plan.groups is None else batch.column(plan.groups).to_pylist()
        texts: list[Any] = column.to_pylist()
        if plan.annotations is not None:
            marked = zip(texts, batch.column(plan.annotations).to_pylist(), strict=True)
            texts = [to_passage(text, spans, row) for row, (text, spans) in enumerate(marked, start=first_row)]
        if sealer is None or ids is None:
            protected = release.protect_texts(texts, model, ids=ids, groups=groups, first_row=first_row)
            return SealedRelease(protected, [])

        def embed(given: list[str]) -> Embeddings:
            return embed_texts(model, given, first_row=first_row)

        return protect_and_seal(release, sealer, texts, embed, ids=ids, groups=groups, first_row=first_row)
    vectors = read_vectors(column, dimensions=release.model.dimensions, first_row=first_row)
    protected = release.protect_vectors(vectors, ids=ids, first_row=first_row)
    seals = [] if sealer is None or ids is None else sealer.seal(vectors, ids, first_row=first_row)
    return SealedRelease(protected, seals)


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
        if not self.guard.release.is_keyed:
            raise InvalidInputError("an engine may run a part twice: protect with a key, so that it comes out the same")

    @property
    def release(self) -> Release:
        """The way out of the texts, or of vectors that came without them."""
        return self.guard.release if self.plan.is_text else self.guard.vector_release

    def __call__(self, batch: Any) -> Any:
        """Return the protected rows of a batch, in its order."""
        rows = take_filled(self.plan, batch) if self.skip_empty else batch
        model = self.guard.model if self.plan.is_text else None
        protected = protect_batch(self.release, self.plan, rows, model, self.guard.sealer if self.plan.seals else None)
        return self.plan.output_batch(rows, self.schema, protected, self.guard.finder)

    def __reduce__(self) -> tuple[Any, ...]:
        settings = tuple(sorted(self.guard.portable_settings().items()))
        return _rebuild, (settings, self.plan, self.schema, self.skip_empty)


def _rebuild(settings: tuple[tuple[str, Any], ...], plan: ColumnPlan, schema: Any, skip_empty: bool) -> BatchProtection:
    return BatchProtection(guard=_shared_guard(settings), plan=plan, schema=schema, skip_empty=skip_empty)


@lru_cache(maxsize=4)
def _shared_guard(settings: tuple[tuple[str, Any], ...]) -> Guard:
    """Return one guard for all parts that a worker is given: it loads the model and opens the ledger once."""
    return Guard.from_settings(dict(settings))
