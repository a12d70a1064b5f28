from __future__ import annotations

from dataclasses import replace

import pytest

from support.audit_examples import made_examples
from support.audits import UNDEFENDED, VEIL, setting
from vecveil.audit.rows import Reconstruction
from vecveil.reports.conditions import Condition, sort_conditions
from vecveil.reports.examples import example_data, mark_spans, mark_words


def test_private_spans_stand_under_their_labels() -> None:
    segments = mark_spans("Ann of Lyon", [(7, 11, "GPE"), (0, 3, "PERSON")])
    assert segments == [("Ann", "PERSON"), (" of ", ""), ("Lyon", "GPE")]


def test_spans_are_counted_in_characters_beyond_the_first_plane() -> None:
    assert mark_spans("𝒳𝒴 Ann", [(3, 6, "PERSON")]) == [("𝒳𝒴 ", ""), ("Ann", "PERSON")]


def test_spans_that_overlap_or_are_empty_lose_no_text() -> None:
    segments = mark_spans("abcdef", [(0, 4, "A"), (2, 6, "B"), (5, 5, "C")])
    assert "".join(text for text, _ in segments) == "abcdef"
    assert ("abcd", "A") in segments


@pytest.mark.parametrize(
    ("text", "leaked", "marked"),
    [
        ("In BERLIN, Berliners met", ("berlin",), ["BERLIN"]),
        ("East-Berlin is not Berlin.", ("berlin",), ["Berlin"]),
        ("Zoë O’Brien left", ("zoë", "o'brien"), ["Zoë", "O’Brien"]),
        ("Weißstraße, 1.5 of 15", ("weissstrasse", "1.5"), ["Weißstraße", "1.5"]),
        ("a (b) c*", ("(b)", "c*", "nothing"), ["(b)", "c*"]),
        ("nothing here", (), []),
        ("", ("x",), []),
    ],
)
def test_leaked_words_are_marked_as_they_are_written(text: str, leaked: tuple[str, ...], marked: list[str]) -> None:
    segments = mark_words(text, leaked)
    assert [part for part, mark in segments if mark == "leaked"] == marked
    assert "".join(part for part, _ in segments) == text


def test_one_seed_of_a_reading_is_shown_and_unknown_conditions_are_left_out() -> None:
    reading = Reconstruction(setting=UNDEFENDED, attack="mlc", text=None, leaked=("lyon",), similarity=None)
    again = replace(reading, setting=replace(UNDEFENDED, seed=1), leaked=())
    elsewhere = replace(reading, setting=setting("laplace", 0.5))
    example = replace(made_examples()[0], readings=(reading, again, elsewhere))
    conditions = sort_conditions([Condition.from_setting(UNDEFENDED), Condition.from_setting(setting(VEIL, 0.5))])
    (data,) = example_data([example], conditions, {"mlc": "MLC"})
    assert data["readings"] == [{"point": 0, "attack": "MLC", "text": None, "leaked": ["lyon"], "similarity": None}]
