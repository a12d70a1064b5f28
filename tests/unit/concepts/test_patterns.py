from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.patterns import Patterns
from vecveil.core.errors import ConceptTimeoutError, InvalidInputError

# Tries every way of dividing a run of n letters into ones and twos: as many as the n-th Fibonacci number.
_HOSTILE = r"(?:a|aa)+[$]|x"


def test_patterns_are_found_under_their_labels() -> None:
    concept = Patterns(patterns={"AGE": r"\d+ years", "ID": [r"[A-Z]\d{3}", r"#\d+"]})
    assert concept.find("A123, #9, 40 years") == (Span(0, 4, "ID"), Span(6, 8, "ID"), Span(10, 18, "AGE"))


def test_a_match_looks_back_over_the_one_before_it() -> None:
    assert Patterns(patterns={"X": r"(?<=a)b|a"}).find("ab") == (Span(0, 1, "X"), Span(1, 2, "X"))


def test_matches_of_no_characters_are_left_out() -> None:
    assert Patterns(patterns={"X": r"\b|\d"}).find("a 1") == (Span(2, 3, "X"),)


def test_a_pattern_that_takes_too_long_is_named_without_the_text() -> None:
    secret = "secret" + "a" * 80
    with pytest.raises(ConceptTimeoutError, match=r"of label 'SLOW' took longer than 0\.05 s") as caught:
        Patterns(patterns={"SLOW": _HOSTILE}, timeout=0.05).find(secret)
    assert repr(_HOSTILE) in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_time_limit_holds_for_all_positions_together() -> None:
    concept = Patterns(patterns={"SLOW": _HOSTILE}, timeout=0.2)
    # A run of 18 letters is soon done with; two thousand of them are not.
    slow_place = "a" * 18 + "b x "
    assert len(concept.find(slow_place)) == 1
    with pytest.raises(ConceptTimeoutError):
        concept.find(slow_place * 2000)


@pytest.mark.parametrize("pattern", ["a*", "", "(?:)", "^", "x|"])
def test_a_pattern_that_matches_the_empty_string_is_an_error(pattern: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(f"pattern {pattern!r} of label 'X' matches the empty")):
        Patterns(patterns={"X": pattern})


def test_a_broken_pattern_is_shown_with_the_reason() -> None:
    with pytest.raises(InvalidInputError, match=r"pattern '\(a' of label 'X' is not valid: missing \)"):
        Patterns(patterns={"X": "(a"})


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
def test_the_time_limit_must_be_a_positive_number(timeout: float) -> None:
    with pytest.raises(InvalidInputError, match="timeout"):
        Patterns(patterns={"X": "a"}, timeout=timeout)


def test_a_pattern_that_is_no_string_is_told_by_its_label() -> None:
    pattern: Any = 3
    with pytest.raises(InvalidInputError, match="label 'X' must be a string, got int"):
        Patterns(patterns={"X": pattern})


def test_no_patterns_are_an_error() -> None:
    with pytest.raises(InvalidInputError, match="at least one label of a pattern"):
        Patterns(patterns={})
    with pytest.raises(InvalidInputError, match="at least one label of a pattern"):
        Patterns(patterns={"X": []})


def test_one_pattern_and_a_list_of_one_are_the_same() -> None:
    assert Patterns(patterns={"A": ["1", "3"], "B": "2"}) == Patterns(patterns={"A": ("1", "3"), "B": ["2"]})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "setting 'patterns' is missing"),
        ({"patterns": "a"}, "'patterns' must be a table, got str"),
        ({"patterns": {"A": 3}}, "'patterns.A' must be a list of strings, got int"),
        ({"patterns": {"A": "b"}, "timeout": "1"}, "'timeout' must be a number, got str"),
        ({"pattern": {"A": "b"}}, "did you mean 'patterns'"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Patterns.from_settings(settings, Path())


def test_its_repr_and_summary_tell_no_pattern() -> None:
    concept = Patterns(patterns={"NAME": "Smith"})
    assert "Smith" not in repr(concept)
    assert concept.summary() == {"kind": "patterns", "patterns": 1}


@pytest.mark.parametrize("pattern", ["a{1000000000}", "(b{2,20000})", "c{,30000}", "(" * 5000 + "d" + ")" * 5000])
def test_a_pattern_that_asks_for_too_much_is_refused_in_one_short_line(pattern: str) -> None:
    with pytest.raises(InvalidInputError, match="of label 'A'") as refused:
        Patterns(patterns={"A": pattern})
    assert len(str(refused.value)) < 300
    assert list(Patterns(patterns={"A": "a{9999}b"}).find_all([Passage("ab")])) == [()]
