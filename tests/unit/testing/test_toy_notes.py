from __future__ import annotations

import numpy as np
import pytest

from vecveil.attacks import Recovery
from vecveil.testing.toy_notes import (
    HELD_OUT,
    TESTED,
    TRAINED_ON,
    UNSEEN,
    Notes,
    embed_words,
    leakage,
    ranking,
    toy_notes,
)


@pytest.fixture(scope="module")
def notes() -> Notes:
    return toy_notes()


def perfect(notes: Notes) -> Recovery:
    """What an attack would read that knows every text."""
    vocabulary = notes.test.vocabulary
    words = tuple(frozenset(text.split()) for text in notes.test.texts)
    scores = np.array([[float(word in read) for word in vocabulary] for read in words])
    return Recovery(words=words, texts=notes.test.texts, vocabulary=vocabulary, scores=scores)


def test_no_note_is_in_two_samples(notes: Notes) -> None:
    texts = [*notes.train.texts, *notes.held_out.texts, *notes.test.texts]
    assert len(set(texts)) == len(texts) == TRAINED_ON + HELD_OUT + TESTED
    assert [text for text in texts if UNSEEN in text] == [notes.test.texts[-1]]


def test_notes_are_the_same_each_time_and_random_vectors_have_nothing_to_do_with_them(notes: Notes) -> None:
    np.testing.assert_array_equal(toy_notes().train.vectors, notes.train.vectors)
    np.testing.assert_array_equal(embed_words(notes.train.texts), notes.train.vectors)
    unrelated = toy_notes(unrelated=True)
    assert unrelated.train.texts == notes.train.texts
    assert (unrelated.train.vectors != notes.train.vectors).any(axis=1).all()


def test_whoever_knows_the_texts_reads_everything_and_far_more_than_chance(notes: Notes) -> None:
    own, chance = leakage(perfect(notes), notes.test)
    assert own == 1.0
    assert chance < 0.4
    assert ranking(perfect(notes), notes.test) == 1.0


def test_whoever_scores_all_words_alike_ranks_by_chance(notes: Notes) -> None:
    found = perfect(notes)
    same = Recovery(words=found.words, texts=found.texts, vocabulary=found.vocabulary, scores=0 * found.scores)
    assert ranking(same, notes.test) == 0.5
