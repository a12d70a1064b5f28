"""The user's own searches, in a collection and in its shadow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError, InvalidRowError, join_names
from vecveil.core.progress import Progress, silent
from vecveil.files import open_source
from vecveil.files.vectors import is_vector_type, read_vectors
from vecveil.migrate.protection import protect_queries
from vecveil.migrate.store import Store
from vecveil.migrate.swapping import require_collection, require_complete
from vecveil.veil import Guard

HITS, READ_ROWS, TEXT = 10, 4096, "text"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How the shadow answers, beside the collection.

    Attributes:
        queries: How many queries there were.
        k: Rows that each search returned.
        recall: Share of the collection's hits that the shadow finds too, on average over the queries.
        error: Standard error of that average; NaN for a single query.
        poor: Recall that nine of ten queries reach.
        first: Share of the queries whose first hit is still the first.
        kept: Share of the queries whose first hit is still among the hits.
    """

    queries: int
    k: int
    recall: float
    error: float
    poor: float
    first: float
    kept: float

    def __str__(self) -> str:
        if self.queries == 1:
            return f"recall@{self.k} {self.recall:.3f} for a single query"
        return (
            f"recall@{self.k} {self.recall:.3f} ± {self.error:.3f} over {self.queries:,} queries; nine of ten reach "
            f"{self.poor:.2f}; the first hit is still first for {self.first:.0%} of them, and found for {self.kept:.0%}"
        )


def compare(
    store: Store, guard: Guard, queries: Sequence[str] | Embeddings, *, k: int = HITS, progress: Progress = silent
) -> Comparison:
    """Search the collection with clean queries and the shadow with protected ones, each as its users would.

    Args:
        store: The store, opened for the collection, with a complete shadow.
        guard: What the shadow was protected with; queries pass it, and its ledger, like any others.
        queries: Texts, which the guard's model embeds, or vectors that it made.
        k: Rows that a search returns.
        progress: Called as the work advances.
    """
    at_least(k, 1, "k")
    rows = require_collection(store)
    if store.count(store.shadow) is None:
        raise InvalidInputError(f"there is no {store.shadow} to compare {store.collection} with; migrate first")
    require_complete(store, store.collection)
    if not len(queries):
        raise InvalidInputError("a comparison needs at least one query, got none")
    if k >= rows:
        raise InvalidInputError(f"a search for {k} finds all of {rows} rows, which compares nothing; ask for fewer")
    clean, protected = protect_queries(guard, queries, progress=progress)
    return compare_hits(store.search(store.collection, clean, k), store.search(store.shadow, protected, k), k=k)


def compare_hits(before: Sequence[Sequence[object]], after: Sequence[Sequence[object]], *, k: int) -> Comparison:
    """Return what two searches have in common, query by query, nearest hits first."""
    pairs = list(zip(before, after, strict=True))
    recalls = [len({*old} & {*new}) / max(len(old), 1) for old, new in pairs]
    spread = float(np.std(recalls, ddof=1)) if len(recalls) > 1 else float("nan")
    return Comparison(
        queries=len(recalls),
        k=k,
        recall=float(np.mean(recalls)),
        error=spread / len(recalls) ** 0.5,
        poor=float(np.quantile(recalls, 0.1, method="lower")),
        first=float(np.mean([list(old[:1]) == list(new[:1]) for old, new in pairs])),
        kept=float(np.mean([{*old[:1]} <= {*new} for old, new in pairs])),
    )


def read_queries(path: str | Path) -> list[str] | Embeddings:
    """Return the texts of a file (Parquet, Arrow, JSONL, CSV, TSV, lines), or its vectors where it has no texts."""
    import pyarrow as pa

    source = open_source(Path(path))
    if not source.rows:
        raise InvalidInputError(f"{path} has no rows")
    names, table = source.schema.names, pa.Table.from_batches(source.batches(READ_ROWS), source.schema)
    if TEXT in names:
        texts: list[str] = table.column(TEXT).to_pylist()
        for row, text in enumerate(texts):
            if not isinstance(text, str) or not text.strip():
                raise InvalidRowError(row, f"of {path} has no text")
        return texts
    columns = [name for name in names if is_vector_type(source.schema.field(name).type)]
    if len(columns) != 1:
        raise InvalidInputError(f"{path} must have a column {TEXT!r} or one column of vectors, got {join_names(names)}")
    return read_vectors(table.column(columns[0]).combine_chunks())
