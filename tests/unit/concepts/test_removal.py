from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.passage import Span
from vecveil.concepts.removal import remove_spans
from vecveil.core.errors import InvalidInputError

_MARKED = re.compile(r"<(.*?)>")


def _remove(marked: str) -> str:
    """Remove what stands between angle brackets."""
    text, spans, position = "", [], 0
    for match in _MARKED.finditer(marked):
        text += marked[position : match.start()]
        spans.append(Span(len(text), len(text) + len(match[1]), "X"))
        text += match[1]
        position = match.end()
    return remove_spans(text + marked[position:], spans)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("He has <asthma> now", "He has now"),
        ("<Asthma> is common", "is common"),
        ("He has <asthma>", "He has"),
        ("<asthma>", ""),
        ("a <x> <y> <z> b", "a b"),
        ("in<visible>ly", "inly"),
    ],
)
def test_blanks_around_a_removed_span_become_one(marked: str, expected: str) -> None:
    assert _remove(marked) == expected


@pytest.mark.parametrize("mark", [",", ".", ";", ":", "!", "?", ")", "]"])
def test_no_blank_stays_before_a_mark(mark: str) -> None:
    assert _remove(f"(he [has <asthma>{mark} so") == f"(he [has{mark} so"
    assert _remove(f"(he [has <asthma> {mark} so") == f"(he [has{mark} so"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("a (<x>) b", "a b"),
        ("a ( <x>, <y> ) b", "a b"),
        ("a [<x>] {<y>} b", "a b"),
        ('he said "<x>" twice', "he said twice"),
        ("he said “<x>” and ‘<y>’", "he said and"),
        ("(<x> and b)", "(and b)"),
        ('"<x> and b"', '"and b"'),
        ('"b and <x>"', '"b and"'),
    ],
)
def test_brackets_and_quotes_are_neither_left_empty_nor_padded(marked: str, expected: str) -> None:
    assert _remove(marked) == expected


def test_quotes_around_other_words_stay() -> None:
    assert _remove('"yes" <x> "no"') == '"yes" "no"'
    assert _remove("we met <Ann>’s dog") == "we met ’s dog"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("a, <x>, b", "a, b"),
        ("a, <x>, <y>, b", "a, b"),
        ("<x>, <y>, b", "b"),
        ("a, <x>", "a"),
        ("a, <x>. B", "a. B"),
        ("(a, <x>)", "(a)"),
        ("(<x>, a)", "(a)"),
        ("a, <x>; b", "a; b"),
        ("Known: <x>, a", "Known: a"),
        ("A. <X>, b", "A. b"),
        ("A. <X>. B", "A. B"),
        ("<X>. B", "B"),
    ],
)
def test_commas_neither_double_nor_lead_nor_trail(marked: str, expected: str) -> None:
    assert _remove(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("Finding: <x>\nAge: 4", "Finding:\nAge: 4"),
        ("a\n<x>\nb", "a\nb"),
        ("a\n\n<x>\n\nb", "a\n\nb"),
        ("a\n  <x> b", "a\n  b"),
        ("a\n<x>: b", "a\nb"),
        ("a\n<x>. B", "a. B"),
    ],
)
def test_lines_stay_lines(marked: str, expected: str) -> None:
    assert _remove(marked) == expected


def test_a_number_that_starts_with_a_point_is_no_mark() -> None:
    assert _remove("take <x> .5 mg") == "take .5 mg"


def test_text_far_from_a_span_stays_as_it_was() -> None:
    assert _remove(" two  blanks ,odd\n\n\ttext   here <x> and  there ( ) ,, \n") == (
        " two  blanks ,odd\n\n\ttext   here and  there ( ) ,, \n"
    )


def test_a_span_after_the_end_is_an_error_that_holds_no_text() -> None:
    with pytest.raises(InvalidInputError, match="ends at 9, after its text of 6 characters") as caught:
        remove_spans("secret", [Span(2, 9, "X")])
    assert "secret" not in str(caught.value)


@settings(deadline=None)
@given(st.text())
def test_without_spans_nothing_changes(text: str) -> None:
    assert remove_spans(text, ()) == text


_WORDS = st.lists(st.tuples(st.sampled_from(["kept", "gone"]), st.sampled_from([" ", ", ", ". ", "; ", "\n", " ("])))


@settings(deadline=None)
@given(_WORDS)
def test_removed_words_are_gone_and_the_others_stay_in_order(pieces: list[tuple[str, str]]) -> None:
    text = "".join(f"{word}{number}{end}" for number, (word, end) in enumerate(pieces))
    spans = [Span(*match.span(), "X") for match in re.finditer(r"gone\d+", text)]
    removed = remove_spans(text, spans)
    assert re.findall(r"\w+", removed) == re.findall(r"kept\d+", text)
    assert remove_spans(removed, [Span(*match.span(), "X") for match in re.finditer(r"gone\d+", removed)]) == removed


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1))
def test_a_plain_list_of_words_keeps_single_blanks(removed: list[bool]) -> None:
    text = " ".join("gone" if gone else "kept" for gone in removed)
    spans = [Span(5 * number, 5 * number + 4, "X") for number, gone in enumerate(removed) if gone]
    assert remove_spans(text, spans) == " ".join(["kept"] * removed.count(False))


@settings(deadline=None)
@given(st.text(max_size=30), st.data())
def test_removal_only_deletes_characters(text: str, data: st.DataObject) -> None:
    bounds = st.integers(0, len(text))
    pairs = data.draw(st.lists(st.tuples(bounds, bounds).filter(lambda pair: pair[0] < pair[1]), max_size=3))
    spans = [Span(start, end, "X") for start, end in pairs] if text else []
    remaining = iter(text)
    assert all(character in remaining for character in remove_spans(text, spans))
