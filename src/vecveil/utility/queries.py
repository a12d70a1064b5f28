"""The user's own queries, without judgments: what a search still finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError
from vecveil.utility.neighbors import find_nearest, rank_candidates
from vecveil.utility.task import Encoder, Protected, SidedTask, TaskScores, encode_side


@dataclass(frozen=True, kw_only=True)
class Queries(SidedTask):
    """Search for queries that nobody has judged, and hold what is found against the search in unprotected vectors.

    The main score says how near, in unprotected vectors, the texts are that are found: 1 means as near as the nearest
    there are, 0 no nearer than any. Overlap is harder: it counts the very same texts.

    Attributes:
        texts: The corpus.
        queries: The queries.
        hits: Texts that a search returns.
        rerank: Candidates that the store returns for the owner to rerank; 0 measures no reranking.
        protected: Which side is protected.
        named: For each query, whether it names the concept; empty where nobody knows.
    """

    texts: tuple[str, ...] = field(repr=False)
    queries: tuple[str, ...] = field(repr=False)
    named: tuple[bool, ...] = field(default=(), repr=False)
    hits: int = 10
    rerank: int = 100
    protected: Protected = "documents"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self.hits, 1, "hits")
        at_least(self.rerank, 0, "rerank")
        if self.named and len(self.named) != len(self.queries):
            raise InvalidInputError(f"named must be one for each query, got {len(self.named)} for {len(self.queries)}")
        if not self.queries:
            raise InvalidInputError("queries needs a query at least, got none")
        if len(self.texts) <= self.hits:
            raise InvalidInputError(f"{self.hits} hits need more texts than that, got {len(self.texts)}")

    def score(self, encoder: Encoder) -> TaskScores:
        """Return how near, how many and how far up the right texts still are, plain and after reranking."""
        clean_queries, clean = encoder.embed_clean(self.queries), encoder.embed_clean(self.texts)
        best, _ = find_nearest(clean_queries, clean, self.hits)
        queries = encode_side(encoder, self.queries, side="query", protected=self.protected)
        documents = encode_side(encoder, self.texts, side="document", protected=self.protected)
        rows, _ = find_nearest(queries, documents, max(self.hits, self.rerank))
        found = rows[:, : self.hits]
        similarity = f"similarity@{self.hits}"
        nearness = partial(_nearness, clean_queries, clean, best)
        scores = {
            similarity: nearness(found),
            f"overlap@{self.hits}": _overlap(found, best),
            "first": float((found[:, 0] == best[:, 0]).mean()),
        }
        unnamed = ~np.array(self.named, dtype=bool)
        if unnamed.any():
            scores[f"{similarity}_unnamed"] = nearness(found, rows=unnamed)
        if self.rerank:
            after = rank_candidates(clean_queries, clean, rows[:, : self.rerank])[:, : self.hits]
            scores[f"{similarity}_rerank{self.rerank}"] = nearness(after)
            scores[f"overlap@{self.hits}_rerank{self.rerank}"] = _overlap(after, best)
        return TaskScores(main=similarity, scores=scores, protected=self.protected, cases=len(self.queries))


def _overlap(found: NDArray[np.intp], best: NDArray[np.intp]) -> float:
    kept = [np.intersect1d(one, other).size for one, other in zip(found, best, strict=True)]
    return float(np.mean(kept) / best.shape[1])


def _nearness(
    queries: Embeddings,
    documents: Embeddings,
    best: NDArray[np.intp],
    found: NDArray[np.intp],
    *,
    rows: NDArray[np.bool_] | slice = slice(None),
) -> float:
    """Return how near the found texts are, between any texts, 0, and the nearest there are, 1; for some queries."""
    unit = np.asarray(documents, dtype=np.float64)
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    wide = np.asarray(queries, dtype=np.float64)
    anything = wide @ unit.mean(axis=0)
    reached, most = (np.einsum("qd,qhd->q", wide, unit[rows]) / rows.shape[1] for rows in (found, best))
    return float((reached - anything)[rows].sum() / (most - anything)[rows].sum())
