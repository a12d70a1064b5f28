from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, LabeledEmbeddings
from vecveil.testing.shapes import planted_attacker, planted_pairs

_PAIRS = planted_pairs(dimensions=6, pairs=5, moved=2)
_CORPUS = LabeledEmbeddings(vectors=np.eye(6), words=(("a",), ("a",), ("b",), ("c",), (), ()))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.ones((3, 2)), np.ones((2, 2)), "must match one to one, got 3 and 2"),
        (np.ones((1, 2)), np.ones((1, 2)), "at least 2 contrast pairs, got 1"),
        (np.ones((3, 2)), np.ones((3, 4)), "vectors without the concept must have 2 dimensions, got 4"),
        (np.full((3, 2), np.nan), np.ones((3, 2)), "vectors with the concept"),
    ],
)
def test_pairs_that_do_not_match_are_refused(first: Embeddings, second: Embeddings, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        ContrastPairs(first, second)


def test_a_corpus_has_as_many_texts_as_vectors() -> None:
    with pytest.raises(InvalidInputError, match="vectors and words must match one to one, got 6 and 5"):
        LabeledEmbeddings(vectors=np.eye(6), words=((),) * 5)


def test_neither_vectors_nor_words_are_printed() -> None:
    assert repr(_CORPUS) == "LabeledEmbeddings()"


def test_a_word_table_has_a_row_for_each_text_and_a_column_for_each_word() -> None:
    assert _CORPUS.vocabulary == ("a", "b", "c")
    assert _CORPUS.word_table(("c", "unheard", "a")).T.astype(int).tolist() == [
        [0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
    ]


def test_rare_words_count_as_one() -> None:
    assert _CORPUS.common_words(2).T.tolist() == [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]
    assert _CORPUS.common_words(1).shape == (6, 3)
    assert _CORPUS.common_words(3).T.tolist() == [[1, 1, 1, 1, 0, 0]]
    assert _CORPUS.common_words(5).shape == (6, 0)


def test_a_corpus_is_embedded_once_and_only_when_it_is_asked_for() -> None:
    made: list[LabeledEmbeddings] = []

    def embed() -> LabeledEmbeddings:
        made.append(_CORPUS)
        return _CORPUS

    evidence = Evidence(_PAIRS, embed)
    assert not made
    assert evidence.corpus is evidence.corpus is _CORPUS
    assert len(made) == 1


def test_a_corpus_must_be_there_and_have_the_dimensions_of_the_pairs() -> None:
    with pytest.raises(InvalidInputError, match="learned from a whole corpus, got contrast pairs alone"):
        _ = Evidence(_PAIRS).corpus
    other = LabeledEmbeddings(vectors=np.eye(5), words=((),) * 5)
    with pytest.raises(InvalidInputError, match="vectors of the corpus must have 6 dimensions, got 5"):
        _ = Evidence(_PAIRS, lambda: other).corpus


def test_an_attacker_is_made_of_what_the_learner_asks_for() -> None:
    attacker, rng = planted_attacker(dimensions=6, words=2), np.random.default_rng(0)
    asked: list[object] = []

    def make_attacker(*given: Any) -> Any:
        asked.extend(given)
        return attacker

    assert Evidence(_PAIRS, _CORPUS, make_attacker).attacker("mlc", {"epochs": 2}, rng) is attacker
    assert asked == ["mlc", {"epochs": 2}, rng]


def test_without_an_attacker_none_is_made() -> None:
    with pytest.raises(InvalidInputError, match="learned through an attack, got no attacker"):
        Evidence(_PAIRS, _CORPUS).attacker("mlc", {}, np.random.default_rng(0))
