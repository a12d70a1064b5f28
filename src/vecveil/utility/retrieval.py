"""Retrieval: search for relevant documents, scored against judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.checks import at_least
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.utility.neighbors import NONE, find_nearest, rank_candidates
from vecveil.utility.task import Encoder, Protected, SidedTask, TaskScores, encode_side, standard_error

Run = Mapping[str, Mapping[str, float]]

DEPTH, TOP = 100, 10
"""Documents kept per query, and those that a reader looks at."""

MEASURES = {
    "ndcg@10": "ndcg_cut_10",
    "recall@10": "recall_10",
    "recall@100": "recall_100",
    "map@10": "map_cut_10",
}
"""Name of each score and what trec_eval calls it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Retrieval(SidedTask):
    """Search by cosine, scored against judgments by trec_eval's measures. The main score is NDCG@10.

    Attributes:
        queries: Text of each query by its id. Those that have no relevant document are left out.
        documents: Text of each document by its id.
        judgments: For each query's id, how relevant documents are, by their ids; 0 is not relevant. Relevant documents
            that aren't among the documents count as never found, as in BEIR.
        rerank: Candidates that the store returns for the owner to rerank; 0 measures no reranking.
        protected: Which side is protected.
        named: Ids of queries that name the concept, where that is known.
        same_ids: Whether a query and a document of the same id are the same text, which then doesn't count as found.
            So in BEIR's ArguAna and Quora.
    """

    queries: Mapping[str, str] = field(repr=False)
    documents: Mapping[str, str] = field(repr=False)
    judgments: Mapping[str, Mapping[str, int]] = field(repr=False)
    named: frozenset[str] = field(default=frozenset(), repr=False)
    same_ids: bool = False
    rerank: int = DEPTH
    protected: Protected = "documents"

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self.rerank, 0, "rerank")
        if not isinstance(self.same_ids, bool):
            raise InvalidInputError(f"same_ids must be true or false, got {self.same_ids!r}")
        if not self.documents:
            raise InvalidInputError("retrieval needs documents, got none")
        if not self._judged_queries():
            raise InvalidInputError(
                f"retrieval needs a query with a relevant document, got none among {len(self.queries)} queries and "
                f"{len(self.judgments)} judged ones"
            )

    def score(self, encoder: Encoder) -> TaskScores:
        """Return means over queries: NDCG@10, recall at 10 and at 100, MAP@10, MRR@10, and NDCG@10 after reranking."""
        judged = self._judged_queries()
        relevant = {query: dict(self.judgments[query]) for query in judged}
        rows, similarities = self._search(encoder, judged)
        run = self._run(judged, rows[:, :DEPTH], similarities[:, :DEPTH])
        scores, error = _average_scores(run, relevant), standard_error(_score_queries(run, relevant, "ndcg@10"))
        unnamed = [row for row, query in enumerate(judged) if query not in self.named]
        if self.named and unnamed:
            some = [judged[row] for row in unnamed]
            without = self._run(some, rows[unnamed, :DEPTH], similarities[unnamed, :DEPTH])
            scores["ndcg@10_unnamed"] = _average_scores(without, relevant)["ndcg@10"]
        if self.rerank:
            texts, documents = [self.queries[query] for query in judged], list(self.documents.values())
            clean = encoder.embed_clean(texts), encoder.embed_clean(documents)
            reranked = rank_candidates(*clean, rows[:, : self.rerank])
            order = np.broadcast_to(-np.arange(reranked.shape[1], dtype=np.float64), reranked.shape)
            after = _average_scores(self._run(judged, reranked, order), relevant)
            scores[f"ndcg@10_rerank{self.rerank}"] = after["ndcg@10"]
        return TaskScores(main="ndcg@10", scores=scores, protected=self.protected, cases=len(judged), error=error)

    def _judged_queries(self) -> Sequence[str]:
        return [query for query in self.queries if any(grade > 0 for grade in self.judgments.get(query, {}).values())]

    def _search(self, encoder: Encoder, judged: Sequence[str]) -> tuple[NDArray[np.intp], Embeddings]:
        ids = list(self.documents)
        place = {document: row for row, document in enumerate(ids)} if self.same_ids else {}
        own = np.array([place.get(query, NONE) for query in judged], dtype=np.intp)
        texts = [self.queries[query] for query in judged]
        asked = encode_side(encoder, texts, side="query", protected=self.protected)
        searched = encode_side(encoder, list(self.documents.values()), side="document", protected=self.protected)
        return find_nearest(asked, searched, max(DEPTH, self.rerank), own=own)

    def _run(self, judged: Sequence[str], rows: NDArray[np.intp], similarities: Embeddings) -> Run:
        ids = list(self.documents)
        return {
            query: {ids[row]: float(near) for row, near in zip(found, nears, strict=True) if near > -np.inf}
            for query, found, nears in zip(judged, rows, similarities, strict=True)
        }


def _score_queries(run: Run, judgments: Mapping[str, Mapping[str, int]], name: str) -> Vector:
    from pytrec_eval import RelevanceEvaluator

    found = RelevanceEvaluator(judgments, {MEASURES[name]}).evaluate(run).values()
    return np.array([query[MEASURES[name]] for query in found])


def _average_scores(run: Run, judgments: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    with needs_extra("pytrec-eval-terrier", "audit"):
        from pytrec_eval import RelevanceEvaluator
    found = RelevanceEvaluator(judgments, set(MEASURES.values())).evaluate(run).values()
    means = {name: float(np.mean([query[measure] for query in found])) for name, measure in MEASURES.items()}
    # trec_eval has no cut for the reciprocal rank, so documents below the cut are taken out of the run.
    tops = {query: dict(list(documents.items())[:TOP]) for query, documents in run.items()}
    ranks = RelevanceEvaluator(judgments, {"recip_rank"}).evaluate(tops).values()
    return means | {"mrr@10": float(np.mean([query["recip_rank"] for query in ranks]))}
