"""Frames filled with facts."""

from __future__ import annotations

import pytest

from vecveil.samples import SampleSpan
from vecveil.samples.facts import Fact
from vecveil.samples.sentence import choose_article, render


def test_spans_cover_labeled_facts_without_what_leads_them() -> None:
    facts = {"patient": Fact("Okafor", "NAME", lead="Mr. "), "year_old": Fact("81-year-old", "AGE"), "he": Fact("he")}
    text, spans = render("{patient} is {a year_old}, and {he} knows.", facts)
    assert text == "Mr. Okafor is an 81-year-old, and he knows."
    assert spans == (SampleSpan(4, 10, "NAME"), SampleSpan(17, 28, "AGE"))


def test_sentences_that_start_with_a_slot_are_capitalized() -> None:
    text, spans = render("{disease} is stable.", {"disease": Fact("gout", "DISEASE")})
    assert text == "Gout is stable."
    assert spans == (SampleSpan(0, 4, "DISEASE"),)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("8-year-old", "an"), ("11-year-old", "an"), ("18-year-old", "an"), ("84-year-old", "an"), ("1-year-old", "a"),
        ("17-year-old", "a"), ("68-year-old", "a"), ("EEG", "an"), ("eye test", "an"), ("upper endoscopy", "an"),
        ("uric acid test", "a"), ("CT scan", "a"), ("walker", "a"),
    ],
)  # fmt: skip
def test_article_follows_the_sound(phrase: str, expected: str) -> None:
    assert choose_article(phrase) == expected
