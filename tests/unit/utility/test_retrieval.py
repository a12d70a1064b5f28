from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from support.tasks import DOCUMENTS, JUDGMENTS, QUERIES
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.testing.tasks import WordEncoder
from vecveil.utility import Retrieval

TASK = Retrieval(queries=QUERIES, documents=DOCUMENTS, judgments=JUDGMENTS)


class Angles:
    """Gives the text "30" a vector of that many degrees."""

    def embed_clean(self, texts: Sequence[str]) -> Embeddings:
        radians = np.deg2rad([float(text) for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1)

    embed_released = embed_clean


DEGREES = {f"d{angle}": str(angle) for angle in range(0, 170, 10)}
"""For a query at 0 degrees, the document at 10 degrees comes second, and so on."""


def test_scores_follow_the_ranks_of_relevant_documents() -> None:
    task = Retrieval(queries={"q": "0"}, documents=DEGREES, judgments={"q": {"d10": 1, "d30": 2, "d150": 1, "d0": 0}})
    found = task.score(Angles())
    gain = 1 / np.log2(3) + 2 / np.log2(5)
    ideal = 2 / np.log2(2) + 1 / np.log2(3) + 1 / np.log2(4)
    assert found.scores == pytest.approx(
        {
            "ndcg@10": gain / ideal,
            "recall@10": 2 / 3,
            "recall@100": 1.0,
            "map@10": (1 / 2 + 2 / 4) / 3,
            "mrr@10": 1 / 2,
            "ndcg@10_rerank100": gain / ideal,
        }
    )
    assert (found.main, found.cases) == ("ndcg@10", 1)


def test_the_reciprocal_rank_is_cut_at_ten() -> None:
    task = Retrieval(queries={"q": "0"}, documents=DEGREES, judgments={"q": {"d110": 1}})
    assert task.score(Angles()).scores["mrr@10"] == 0.0


def test_queries_without_a_relevant_document_are_left_out() -> None:
    queries = {"found": "0", "unjudged": "50", "nothing": "90"}
    task = Retrieval(queries=queries, documents=DEGREES, judgments={"found": {"d0": 1}, "nothing": {"d90": 0}})
    scores = task.score(Angles())
    assert scores.cases == 1
    assert scores.scores["ndcg@10"] == 1.0


def test_a_relevant_document_that_is_not_there_counts_as_not_found() -> None:
    task = Retrieval(queries={"q": "0"}, documents=DEGREES, judgments={"q": {"d0": 1, "elsewhere": 1}})
    assert task.score(Angles()).scores["recall@100"] == 0.5


def test_a_query_that_is_a_document_does_not_find_itself() -> None:
    task = Retrieval(queries={"d0": "0"}, documents=DEGREES, judgments={"d0": {"d10": 1}})
    assert task.score(Angles()).scores["mrr@10"] == 0.5
    assert replace(task, same_ids=True).score(Angles()).scores["mrr@10"] == 1.0


def test_one_protected_side_costs_less_than_two() -> None:
    found = [replace(TASK, protected=side).score(WordEncoder(noise=1.5)) for side in ("both", "queries", "documents")]
    both, queries, documents = (scores.scores["ndcg@10"] for scores in found)
    assert both < min(queries, documents)


def test_the_label_names_source_and_side() -> None:
    assert replace(TASK, source="fiqa").label == "retrieval:fiqa"
    assert replace(TASK, source="fiqa", protected="both").label == "retrieval:fiqa (both protected)"


def test_no_text_is_in_what_a_task_prints() -> None:
    assert repr(TASK) == "Retrieval(protected='documents', source='', same_ids=False, rerank=100)"


def test_data_without_a_task_in_it_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="needs documents, got none"):
        replace(TASK, documents={})
    with pytest.raises(InvalidInputError, match="relevant document, got none among 6 queries and 1 judged"):
        replace(TASK, judgments={"another": {"d0": 1}})
    with pytest.raises(InvalidInputError, match="same_ids must be true or false, got 'yes'"):
        replace(TASK, same_ids="yes")


class Reversed(Angles):
    """Releases turn every search around: what was nearest is farthest."""

    def embed_released(self, texts: Sequence[str]) -> Embeddings:
        return -self.embed_clean(texts)


def test_reranking_orders_what_the_store_returned_by_clean_vectors() -> None:
    judged = {"q": {"d0": 1, "d160": 1}}
    task = Retrieval(queries={"q": "0"}, documents=DEGREES, judgments=judged, rerank=17)
    found = task.score(Reversed())
    assert found.scores["mrr@10"] == 1.0  # d160 comes first in the reversed search
    assert found.scores["ndcg@10_rerank17"] == pytest.approx(task.score(Angles()).scores["ndcg@10"])
    few = Retrieval(queries={"q": "0"}, documents=DEGREES, judgments={"q": {"d0": 1}}, rerank=5).score(Reversed())
    assert few.scores["ndcg@10_rerank5"] == 0.0
