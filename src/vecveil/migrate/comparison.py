"""What a search in the shadow still finds of what a search in the collection finds, by the user's own queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.migrate.completeness import require_collection, require_complete
from vecveil.migrate.store import Store, shadow_of
from vecveil.veil import Guard
from vecveil.veil.embedding import embed_texts

HITS = 10
"""Rows that a search returns."""


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
        progress: Told how far the work is.
    """
    at_least(k, 1, "k")
    collection, shadow = store.collection, shadow_of(store.collection)
    rows = require_collection(store)
    if store.count(shadow) is None:
        raise InvalidInputError(f"there is no {shadow} to compare {collection} with; migrate first")
    require_complete(store, collection, shadow)
    if not len(queries):
        raise InvalidInputError("a comparison needs at least one query, got none")
    if k >= rows:
        raise InvalidInputError(f"a search for {k} finds all of {rows} rows, which compares nothing; ask for fewer")
    clean, protected = _both(guard, queries, progress=progress)
    return compared(store.search(collection, clean, k), store.search(shadow, protected, k), k=k)


def compared(before: Sequence[Sequence[object]], after: Sequence[Sequence[object]], *, k: int) -> Comparison:
    """Return what two searches have in common, query by query, nearest hits first."""
    recalls = [len({*old} & {*new}) / max(len(old), 1) for old, new in zip(before, after, strict=True)]
    spread = float(np.std(recalls, ddof=1)) if len(recalls) > 1 else float("nan")
    return Comparison(
        queries=len(recalls),
        k=k,
        recall=float(np.mean(recalls)),
        error=spread / len(recalls) ** 0.5,
        poor=float(np.quantile(recalls, 0.1, method="lower")),
        first=float(np.mean([list(old[:1]) == list(new[:1]) for old, new in zip(before, after, strict=True)])),
        kept=float(np.mean([{*old[:1]} <= {*new} for old, new in zip(before, after, strict=True)])),
    )


def _both(guard: Guard, queries: Sequence[str] | Embeddings, *, progress: Progress) -> tuple[Embeddings, Embeddings]:
    """Return the queries' clean vectors and the protected ones."""
    if isinstance(queries, np.ndarray):
        clean = guard.protection.checked(queries)
        return clean, guard.vectors(clean).astype(np.float32)
    texts = list(queries)
    clean = embed_texts(guard.model, texts, label="embedding queries", progress=progress)
    return clean, guard.texts(texts, progress=progress).astype(np.float32)
