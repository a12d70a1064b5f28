from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecveil.concepts.spellings import Spellings, allow_wrong_letters, count_wrong_letters, strip_endings

_WORDS = st.text(alphabet="abc", max_size=7)


@pytest.mark.parametrize(
    ("one", "other", "wrong"),
    [("", "", 0), ("abc", "abc", 0), ("abc", "ab", 1), ("abc", "acb", 1), ("abc", "abd", 1), ("abcd", "badc", 2)],
)
def test_wrong_letters_are_counted(one: str, other: str, wrong: int) -> None:
    assert count_wrong_letters(one, other) == wrong


@given(_WORDS, _WORDS)
def test_wrong_letters_are_the_same_both_ways(one: str, other: str) -> None:
    wrong = count_wrong_letters(one, other)
    assert wrong == count_wrong_letters(other, one)
    assert abs(len(one) - len(other)) <= wrong <= max(len(one), len(other))
    assert (wrong == 0) == (one == other)


@given(st.text(alphabet="abcd", min_size=4, max_size=16), st.data())
def test_every_word_with_a_wrong_letter_after_the_first_is_found(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(word) - 1))
    letter = data.draw(st.sampled_from("abcd"))
    added, dropped = word[:place] + letter + word[place:], word[:place] + word[place + 1 :]
    spellings = Spellings([word], inflections=False, misspellings=True)
    for other in (added, word[:place] + letter + word[place + 1 :], dropped):
        assert len(other) < 4 or (word, count_wrong_letters(word, other)) in spellings.find_near(other)


def test_a_short_ending_leaves_a_word() -> None:
    assert "biopsy" in strip_endings("biopsies")
    assert list(strip_endings("gas")) == []
    assert list(strip_endings("glass")) == []


def test_a_name_has_a_plural_and_is_none() -> None:
    spellings = Spellings(["rogers", "polyps"], names=["rogers"], inflections=True, misspellings=False)
    assert [spellings.find(word) for word in ("rogerses", "roger", "polyp")] == [["rogers"], [], ["polyps"]]


def test_longer_words_may_have_more_wrong_letters() -> None:
    assert [allow_wrong_letters(length) for length in (6, 7, 12, 13, 50)] == [0, 1, 1, 2, 2]
