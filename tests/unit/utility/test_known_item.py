from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.testing.tasks import WordEncoder
from vecveil.utility.known_item import KnownItem

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "islet", "jetty", "knoll", "larch"]
TEXTS = tuple(" ".join(WORDS[start:] + WORDS[:start])[: 6 * 8] for start in range(12))


class Lost(WordEncoder):
    """Releases nothing but the same vector."""

    def embed_released(self, texts: Sequence[str]) -> Embeddings:
        return np.ones((len(texts), 64), dtype=np.float32)


def test_a_query_is_a_run_of_at_most_half_of_the_words_of_its_text() -> None:
    task = KnownItem(texts=TEXTS, words=3)
    assert len(task.searches) == len(TEXTS)
    for query in task.searches:
        assert query.text in task.texts[query.row]
        assert len(query.text.split()) == 3
    assert {len(query.text.split()) for query in KnownItem(texts=TEXTS, words=50).searches} == {4}


def test_the_same_seed_asks_the_same() -> None:
    assert KnownItem(texts=TEXTS, words=3).searches == KnownItem(texts=TEXTS, words=3).searches
    assert KnownItem(texts=TEXTS, words=3).searches != KnownItem(texts=TEXTS, words=3, seed=1).searches


def test_short_texts_are_not_searched_for_but_searched() -> None:
    task = KnownItem(texts=("one two three", *TEXTS))
    assert {query.row for query in task.searches} == set(range(1, 13))
    with pytest.raises(InvalidInputError, match="texts of 4 words or more"):
        KnownItem(texts=("one two three",))


def test_queries_know_whether_they_hold_the_concept() -> None:
    private = tuple(((0, 5),) for _ in TEXTS)
    task = KnownItem(texts=TEXTS, private=private, words=2)
    for query in task.searches:
        assert query.names_concept == (task.texts[query.row].find(query.text) == 0)
    assert {query.names_concept for query in task.searches} == {True, False}


def test_unprotected_vectors_find_a_text_by_its_words() -> None:
    scores = KnownItem(texts=TEXTS, private=tuple(((0, 5),) for _ in TEXTS), words=4).score(WordEncoder()).scores
    assert set(scores) == {"mrr@10", "recall@10", "mrr@10_unnamed", "mrr@10_rerank100"}
    assert scores["mrr@10"] > 0.4
    assert scores["mrr@10_rerank100"] == scores["mrr@10"]


def test_reranking_brings_back_what_noise_has_mixed_up() -> None:
    task = KnownItem(texts=TEXTS, words=4, rerank=12)
    clean, lost = task.score(WordEncoder()).scores, task.score(Lost()).scores
    assert lost["mrr@10"] < clean["mrr@10"]
    assert lost["mrr@10_rerank12"] == pytest.approx(clean["mrr@10"])


def test_lists_of_private_characters_must_match_the_texts() -> None:
    with pytest.raises(InvalidInputError, match="one list per text, got 1 for 12"):
        KnownItem(texts=TEXTS, private=((),))
