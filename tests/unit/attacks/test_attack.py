from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.attacks import Sample
from vecveil.concepts import SensitiveToken
from vecveil.core.errors import InvalidInputError

TOKENS = ((SensitiveToken("rome", "GPE"), SensitiveToken("anna", "PERSON")), (), (SensitiveToken("anna", "PERSON"),))


def sample(**changes: Any) -> Sample:
    return Sample(**{"vectors": np.eye(3), "texts": ("anna in rome", "nothing", "anna"), "tokens": TOKENS, **changes})


def test_the_vocabulary_is_every_word_once_and_sorted() -> None:
    assert sample().vocabulary == ("anna", "rome")
    assert len(sample()) == 3


@pytest.mark.parametrize("chosen", [[2, 0], (2, 0), np.array([2, 0]), np.array([2, -3])])
def test_rows_are_taken_in_the_order_they_are_asked_for(chosen: Any) -> None:
    part = sample().rows(chosen)
    np.testing.assert_array_equal(part.vectors, np.eye(3)[[2, 0]])
    assert part.texts == ("anna", "anna in rome")
    assert part.tokens == (TOKENS[2], TOKENS[0])


def test_a_sample_may_be_empty() -> None:
    nothing = sample().rows([])
    assert len(nothing) == 0
    assert nothing.vectors.shape == (0, 3)
    assert nothing.vocabulary == ()


def test_truth_values_choose_no_rows() -> None:
    """As numbers they would be rows 0 and 1, again and again."""
    with pytest.raises(InvalidInputError, match="chosen by their numbers, got truth values"):
        sample().rows(np.array([True, False, True]))


def test_vectors_texts_and_tokens_must_match() -> None:
    with pytest.raises(InvalidInputError, match="vectors, texts and tokens must match, got 3, 2 and 3"):
        sample(texts=("one", "two"))


def test_vectors_are_checked_and_become_an_array() -> None:
    assert sample(vectors=[[1, 0], [0, 1], [1, 1]]).rows([1]).vectors.tolist() == [[0.0, 1.0]]
    with pytest.raises(InvalidInputError, match="NaN or infinite numbers, first in row 1"):
        sample(vectors=np.array([[1.0], [np.nan], [1.0]]))
