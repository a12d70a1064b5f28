from __future__ import annotations

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.veils import PRIVATE_WORD, made_veil
from vecveil.audit.defenses import Undefended, Veiled
from vecveil.audit.embedding import DefendedEncoder, MemoizedEmbedder
from vecveil.core.errors import InvalidInputError
from vecveil.embedders.precomputed import PrecomputedEmbedder

TEXTS = ["a calm day", "a long walk", "we rest"]


def test_each_text_is_embedded_once() -> None:
    embedder = WordEmbedder()
    memory = MemoizedEmbedder(embedder)
    first = memory([TEXTS[0], TEXTS[1], TEXTS[0]])
    second = memory([TEXTS[2], TEXTS[1]])
    assert embedder.asked == TEXTS
    np.testing.assert_array_equal(first, WordEmbedder().embed([TEXTS[0], TEXTS[1], TEXTS[0]]))
    np.testing.assert_array_equal(second, WordEmbedder().embed([TEXTS[2], TEXTS[1]]))


def test_what_is_done_to_the_vectors_does_not_reach_the_memory() -> None:
    memory = MemoizedEmbedder(WordEmbedder())
    vectors = memory(TEXTS)
    vectors[:] = 0
    np.testing.assert_array_equal(memory(TEXTS), WordEmbedder().embed(TEXTS))


def test_no_texts_give_no_vectors() -> None:
    assert MemoizedEmbedder(WordEmbedder())([]).shape == (0, 8)


def test_a_bad_vector_is_refused_without_its_text() -> None:
    with pytest.raises(InvalidInputError, match="NaN") as caught:
        MemoizedEmbedder(WordEmbedder(spoilt=PRIVATE_WORD))(["a day", f"a {PRIVATE_WORD} day"])
    assert PRIVATE_WORD not in str(caught.value)


def test_a_text_without_a_vector_has_no_row_of_a_file() -> None:
    known = PrecomputedEmbedder.from_vectors(TEXTS[:2], WordEmbedder().embed(TEXTS[:2]), model="words")
    with pytest.raises(
        InvalidInputError, match="one of the texts to embed has no vector; it is the first of 1"
    ) as caught:
        MemoizedEmbedder(known)([*TEXTS[:2], PRIVATE_WORD])
    assert "row" not in str(caught.value)
    assert PRIVATE_WORD not in str(caught.value)


def test_neither_texts_nor_vectors_show_in_a_memory() -> None:
    memory = MemoizedEmbedder(WordEmbedder(asked=[]))
    memory([f"one {PRIVATE_WORD}"])
    assert "_known" not in repr(memory)


def test_a_task_sees_clean_vectors_and_fresh_releases() -> None:
    defense = Veiled(veil=made_veil(), epsilon=15.0)
    encoder = DefendedEncoder(embed=MemoizedEmbedder(WordEmbedder()), defense=defense, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(encoder.embed_clean(TEXTS), WordEmbedder().embed(TEXTS))
    first, second = encoder.embed_released(TEXTS), encoder.embed_released(TEXTS)
    assert (first != second).any(axis=1).all()
    assert (first != encoder.embed_clean(TEXTS)).any(axis=1).all()


def test_without_a_defense_both_views_are_the_same() -> None:
    encoder = DefendedEncoder(
        embed=MemoizedEmbedder(WordEmbedder()), defense=Undefended(), rng=np.random.default_rng(0)
    )
    np.testing.assert_array_equal(encoder.embed_clean(TEXTS), encoder.embed_released(TEXTS))
