from __future__ import annotations

import math

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.substitutions.randomize import Randomize

WORDS = [f"word {number}" for number in range(79)]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
def test_a_word_is_kept_as_often_as_randomized_response_says(epsilon: float) -> None:
    outcomes = Randomize(epsilon=epsilon, candidates={"X": WORDS}).outcomes("X", "Word 3")
    expected = 1 / (1 + 78 * math.exp(-epsilon))
    assert outcomes["word 3"] == pytest.approx(expected)
    assert sum(outcomes.values()) == pytest.approx(1.0)
    others = {value for word, value in outcomes.items() if word != "word 3"}
    assert len(others) == 1


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 10.0])
def test_no_two_words_have_an_outcome_whose_odds_differ_by_more_than_epsilon(epsilon: float) -> None:
    """Words that are no candidate are covered as well."""
    law = Randomize(epsilon=epsilon, candidates={"X": WORDS[:7]})
    laws = [law.outcomes("X", value) for value in (*WORDS[:7], "something else")]
    ratios = [one[word] / other[word] for one in laws for other in laws for word in WORDS[:7]]
    assert max(ratios) == pytest.approx(math.exp(epsilon))
    assert law.word_epsilon == epsilon


def test_forms_of_one_word_are_one_candidate() -> None:
    law = Randomize(candidates={"X": ["Gout", "gout ", "asthma"]})
    assert len(law.outcomes("X", "gout")) == 2


def test_a_corpus_gives_candidates_where_none_are_named() -> None:
    values = {"X": ["c", "d"], "Y": ["e", "f"], "Z": ["g", "h"]}
    law = Randomize(candidates={"X": ["a", "b"]}).fit({"Z": ["i", "j"]}, values)
    assert law.candidates == {"X": ("a", "b"), "Y": ("e", "f"), "Z": ("i", "j")}
    assert law.taken == ("Y",)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"epsilon": 0.0}, "epsilon of a word"),
        ({"epsilon": -1.0}, "epsilon of a word"),
        ({"epsilon": 31.0}, "epsilon of a word must be at most 30, got 31"),
        ({"candidates": {"X": ["only"]}}, "'X' needs at least 2 candidates, got 1"),
        ({"candidates": {"X": "word"}}, "a list of words"),
        ({"candidates": {"X": ["a", ""]}}, "a list of words"),
    ],
)
def test_what_hides_nothing_is_refused(settings: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        Randomize(**settings)  # type: ignore[arg-type]


def test_a_category_without_candidates_is_named() -> None:
    with pytest.raises(InvalidInputError, match="no candidates are known for the category 'Y'"):
        Randomize(candidates={"X": ["a", "b"]}).outcomes("Y", "secret")
