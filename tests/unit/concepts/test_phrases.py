from __future__ import annotations

import pytest

from vecveil.concepts.phrases import Match, PhraseFinder, split_words


def _finder(*phrases: str, **settings: bool) -> PhraseFinder:
    options = {"inflections": True, "spacing": True, "misspellings": True, **settings}
    return PhraseFinder(phrases=phrases, **options)  # type: ignore[arg-type]


def test_a_match_has_its_place_and_the_number_of_its_phrase() -> None:
    assert list(_finder("gout", "heart attack").find("two heart-attacks")) == [Match(4, 17, 1)]


def test_the_likeliest_of_several_phrases_is_named() -> None:
    finder = _finder("leukemias", "leukemia")
    assert [match.number for match in finder.find("leukemia leukemias")] == [0, 0]
    assert [match.number for match in _finder("mesothelioma", "mesothelium").find("mesotheliumm")] == [1]


def test_what_does_not_begin_and_end_with_a_letter_is_left_out() -> None:
    assert list(_finder("c++", "(a)", "+").find("c a ++ (a)")) == []


@pytest.mark.parametrize("text", ["heart-attack", "heartattack", "heart - attack"])
def test_without_spacing_gaps_are_as_in_the_phrase(text: str) -> None:
    assert list(_finder("heart attack", spacing=False).find(text)) == []
    assert len(list(_finder("heart attack", spacing=False).find("heart attacks"))) == 1


def test_a_mark_within_a_phrase_may_be_left_out_but_not_changed() -> None:
    finder = _finder("hiv/aids")
    assert [len(list(finder.find(text))) for text in ("hiv/aids", "hiv aids", "hiv, aids")] == [1, 1, 0]


def test_possessive_endings_are_no_part_of_a_word() -> None:
    assert split_words("o'neil's crohn's, it's 3's") == ["o'neil", "crohn", "it", "3"]
