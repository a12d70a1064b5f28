from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vecveil.concepts import SensitiveToken, sensitive_tokens, words
from vecveil.concepts.passage import Span
from vecveil.concepts.tokens import locate_words

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=4)


def found(text: str, *parts: str) -> list[str]:
    """Return the words of the tokens of `text` where each of `parts` is private, where it first stands."""
    return [token.word for token in sensitive_tokens(text, spans_of(text, parts))]


def spans_of(text: str, parts: Iterable[str]) -> list[Span]:
    return [Span(text.index(part), text.index(part) + len(part), "X") for part in parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna met BORIS.", ["anna", "met", "boris"]),
        ("a 68-year-old man", ["a", "68-year-old", "man"]),
        ("long – dash, double--hyphen, end- -start", ["long", "dash", "double", "hyphen", "end", "start"]),
        ("O'Brien don't rock'n'roll", ["o'brien", "don't", "rock'n'roll"]),
        ("O’Brien isn’t", ["o'brien", "isn't"]),
        ("'quoted' \"words\" (here)", ["quoted", "words", "here"]),
        (
            "1.5 mg, 3,000,000 and 12:30 on 2024-01-31",
            ["1.5", "mg", "3,000,000", "and", "12", "30", "on", "2024-01-31"],
        ),
        ("Rome,Italy 10,x a,5", ["rome", "italy", "10", "x", "a", "5"]),
        ("the U.S. and e.g. this", ["the", "u.s", "and", "e.g", "this"]),
        ("mail anna_b.k@example.org", ["mail", "anna", "b.k", "example.org"]),
        ("", []),
        (" .,-' ", []),
    ],
)
def test_words_are_letters_and_digits_with_single_joints_between(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


@pytest.mark.parametrize("text", ["Anna's", "anna’s", "ANNA'S", "Anna"])
def test_a_possessive_ending_is_no_part_of_a_word(text: str) -> None:
    assert words(f"{text} car") == ("anna", "car")


def test_other_endings_after_an_apostrophe_are() -> None:
    assert words("James' o's-x isn't 'sup") == ("james", "o", "x", "isn't", "sup")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Straße", "STRASSE"), ("İzmir", "izmir"), ("cafe\u0301", "CAFÉ"), ("co\u00adop", "coop"), ("ﬁn", "fin")],
)
def test_variants_of_writing_are_one_word(one: str, other: str) -> None:
    assert words(one) == words(other)
    assert len(words(one)) == 1


def test_an_accent_that_no_single_character_has_stays_with_its_letter() -> None:
    assert words("q\u0301r") == ("q\u0301r",)


def test_tokens_are_the_words_of_the_spans_with_their_labels() -> None:
    text = "Anna Smith lives in Rome"
    tokens = sensitive_tokens(text, [Span(0, 10, "PERSON"), Span(20, 24, "GPE")])
    assert tokens == (
        SensitiveToken("anna", "PERSON"),
        SensitiveToken("smith", "PERSON"),
        SensitiveToken("rome", "GPE"),
    )


def test_function_words_are_no_tokens() -> None:
    assert found("at the Bank of England", "the Bank of England") == ["bank", "england"]
    assert found("we went to it", "to") == []


def test_a_word_in_two_spans_counts_once_under_the_first_label() -> None:
    text = "Paris saw PARIS'S twin"
    assert sensitive_tokens(text, [Span(0, 5, "PERSON"), Span(10, 17, "GPE")]) == (SensitiveToken("paris", "PERSON"),)


@pytest.mark.parametrize(
    ("text", "part", "word"),
    [
        ("a 68-year-old man", "68", "68-year-old"),
        ("the London-based firm", "London", "london-based"),
        ("Smith's car", "Smith", "smith"),
        ("Smith's car", "Smith's", "smith"),
        ("in Straßen of", "traß", "strassen"),
        ("it is I\u0307zmir.", "\u0307z", "izmir"),
    ],
)
def test_a_span_that_cuts_a_word_makes_a_token_of_all_of_it(text: str, part: str, word: str) -> None:
    assert found(text, part) == [word]


def test_spans_of_signs_and_blanks_hold_no_token() -> None:
    assert found("Anna, Boris", ", ") == []
    assert sensitive_tokens("Anna", []) == ()


@given(st.text(max_size=40), SPANS)
def test_a_perfect_reconstruction_holds_every_token(text: str, places: list[tuple[int, int]]) -> None:
    tokens = sensitive_tokens(text, [Span(start, start + length, "X") for start, length in places])
    assert {token.word for token in tokens} <= set(words(text))


@pytest.mark.parametrize("text", ["Anna's 68-year-old O’Brien", "3,000 U.S. Straßen", "İzmir, cafe\u0301!"])
def test_words_stay_what_they_are_when_they_are_read_again(text: str) -> None:
    assert words(" ".join(words(text))) == words(text)


@given(st.text(max_size=40))
def test_a_place_holds_its_word(text: str) -> None:
    assert tuple(word for word, _, _ in locate_words(text)) == words(text)
    for word, start, end in locate_words(text):
        assert word in words(text[start:end])
