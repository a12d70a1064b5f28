"""Retrieval: are the relevant documents still found first?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.utility.ranking import NONE, nearest
from vecveil.utility.sides import vectors_of
from vecveil.utility.task import Encoder, Protected, TaskScores, task_label

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
class Retrieval:
    """Search by cosine, scored against judgements by trec_eval's measures. The main score is NDCG@10.

    Attributes:
        queries: Text of each query by its id. Those that have no relevant document are left out.
        documents: Text of each document by its id.
        judgements: For each query's id, how relevant documents are, by their ids; 0 is not relevant. Relevant documents
            that aren't among the documents count as never found, as in BEIR.
        protected: Which side is protected.
        same_ids: Whether a query and a document of the same id are the same text, which then doesn't count as found.
            So in BEIR's ArguAna and Quora.
        source: Where it is from, for the label.
    """

    queries: Mapping[str, str] = field(repr=False)
    documents: Mapping[str, str] = field(repr=False)
    judgements: Mapping[str, Mapping[str, int]] = field(repr=False)
    protected: Protected = "both"
    same_ids: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        one_of(self.protected, get_args(Protected), "protected side")
        if not isinstance(self.same_ids, bool):
            raise InvalidInputError(f"same_ids must be true or false, got {self.same_ids!r}")
        if not self.documents:
            raise InvalidInputError("retrieval needs documents, got none")
        if not self._judged():
            raise InvalidInputError(
                f"retrieval needs a query with a relevant document, got none among {len(self.queries)} queries and "
                f"{len(self.judgements)} judged ones"
            )

    @property
    def label(self) -> str:
        """How tables name the task."""
        return task_label("retrieval", source=self.source, protected=self.protected)

    def score(self, encoder: Encoder) -> TaskScores:
        """Return NDCG@10, recall at 10 and at 100, MAP@10 and MRR@10, each a mean over queries."""
        judged = self._judged()
        run = self._run(encoder, judged)
        scores = _means(run, {query: dict(self.judgements[query]) for query in judged})
        return TaskScores(main="ndcg@10", scores=scores, protected=self.protected, cases=len(judged))

    def _judged(self) -> Sequence[str]:
        return [query for query in self.queries if any(grade > 0 for grade in self.judgements.get(query, {}).values())]

    def _run(self, encoder: Encoder, judged: Sequence[str]) -> Run:
        ids = list(self.documents)
        place = {document: row for row, document in enumerate(ids)} if self.same_ids else {}
        own = np.array([place.get(query, NONE) for query in judged], dtype=np.intp)
        texts = [self.queries[query] for query in judged]
        asked = vectors_of(encoder, texts, side="query", protected=self.protected)
        searched = vectors_of(encoder, list(self.documents.values()), side="document", protected=self.protected)
        rows, similarities = nearest(asked, searched, DEPTH, own=own)
        return {
            query: {ids[row]: float(near) for row, near in zip(found, nears, strict=True) if near > -np.inf}
            for query, found, nears in zip(judged, rows, similarities, strict=True)
        }


def _means(run: Run, judgements: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
    try:
        from pytrec_eval import RelevanceEvaluator
    except ImportError:
        raise MissingExtraError("pytrec-eval-terrier", "audit") from None
    found = RelevanceEvaluator(judgements, set(MEASURES.values())).evaluate(run).values()
    means = {name: float(np.mean([query[measure] for query in found])) for name, measure in MEASURES.items()}
    # trec_eval has no cut for the reciprocal rank, so what lies below the cut is taken out of the run.
    tops = {query: dict(list(documents.items())[:TOP]) for query, documents in run.items()}
    ranks = RelevanceEvaluator(judgements, {"recip_rank"}).evaluate(tops).values()
    return means | {"mrr@10": float(np.mean([query["recip_rank"] for query in ranks]))}
