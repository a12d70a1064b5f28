from __future__ import annotations

import math

import pytest

from vecveil.accounting.word_promise import WordPromise
from vecveil.core.errors import InvalidInputError


def test_words_that_are_gone_are_promised_not_to_matter() -> None:
    promise = WordPromise(substitution="remove", epsilon=0.0)
    assert promise.sentence == "a protected vector does not depend on the private words that the concept finds"
    assert "two texts with other words in the same places have the same release" in str(promise)


def test_words_that_are_drawn_are_promised_odds() -> None:
    promise = WordPromise(substitution="randomize", epsilon=4.0)
    assert promise.sentence.endswith("between two private words by a factor of at most e^4")
    assert "ε = 4 for each different value" in str(promise)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan])
def test_there_is_no_such_epsilon(epsilon: float) -> None:
    with pytest.raises(InvalidInputError, match="epsilon of a word"):
        WordPromise(substitution="randomize", epsilon=epsilon)
