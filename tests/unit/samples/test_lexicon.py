"""The words of the sample corpus: enough of them, and none in two roles."""

from __future__ import annotations

import pytest

from vecveil.samples.everyday import CITIES, MEN, SURNAMES, WOMEN
from vecveil.samples.lexicon import DISEASES, MEDICATIONS, SYMPTOMS, TOPICS


@pytest.mark.parametrize(
    ("words", "fewest"),
    [
        (DISEASES, 70), (SYMPTOMS, 60), (MEDICATIONS, 40), (CITIES, 60), (SURNAMES, 60), (WOMEN + MEN, 60),
    ],
    ids=["diseases", "symptoms", "medications", "cities", "surnames", "first names"],
)  # fmt: skip
def test_word_lists_are_long_and_without_repetition(words: tuple[str, ...], fewest: int) -> None:
    assert len(words) == len(set(words)) >= fewest


def test_no_word_has_two_roles() -> None:
    lists = (DISEASES, SYMPTOMS, MEDICATIONS, CITIES, SURNAMES, WOMEN, MEN)
    assert len({word.casefold() for words in lists for word in words}) == sum(map(len, lists))


def test_topics_have_names_of_their_own() -> None:
    assert len({topic.name for topic in TOPICS}) == len({topic.specialist for topic in TOPICS}) == len(TOPICS) >= 10
