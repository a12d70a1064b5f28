from __future__ import annotations

import math

import pytest

from vecveil.concepts import Agreement, Passage, Span, annotated, measure_concept, terms
from vecveil.core.errors import InvalidInputError, UnknownNameError

CONCEPT = terms("gout", "heart attack", "well", label="DISEASE")
NOTES = [
    Passage("Gout, heart attack.", (Span(0, 4, "DISEASE"), Span(6, 18, "DISEASE"))),
    Passage("A large heart attack of old.", (Span(2, 20, "DISEASE"), Span(24, 27, "AGE"))),
    Passage("Lupus, lupus; is well.", (Span(0, 5, "DISEASE"), Span(7, 12, "DISEASE"))),
    Passage("Nothing."),
]


def test_a_span_is_found_when_every_word_is() -> None:
    spans = measure_concept(CONCEPT, NOTES).spans
    assert spans["DISEASE"] == Agreement(annotated=5, found=2, finds=4, right=3)
    assert spans["DISEASE"] == spans[""]
    assert (spans[""].recall, spans[""].precision) == (0.4, 0.75)


def test_words_are_counted_each() -> None:
    words = measure_concept(CONCEPT, NOTES).words[""]
    assert words == Agreement(annotated=8, found=5, finds=6, right=5)


def test_missed_and_wrong_forms_are_counted_from_the_most_frequent_on() -> None:
    agreement = measure_concept(CONCEPT, NOTES)
    assert list(agreement.missed.items()) == [(("DISEASE", "lupus"), 2), (("DISEASE", "large heart attack"), 1)]
    assert agreement.wrong == {("DISEASE", "well"): 1}
    assert "lupus" not in repr(agreement)


def test_labels_are_the_concepts_own_where_annotations_have_them_and_else_all() -> None:
    other = terms("gout", label="OTHER")
    assert measure_concept(CONCEPT, NOTES).spans[""].annotated == 5
    assert measure_concept(other, NOTES).spans[""].annotated == 6
    assert measure_concept(other, NOTES, labels=["AGE"]).spans["AGE"] == Agreement(annotated=1)


def test_what_was_not_there_has_no_share() -> None:
    agreement = measure_concept(terms("xyz"), NOTES).spans[""]
    assert agreement.recall == 0.0
    assert math.isnan(agreement.precision)


def test_function_words_count_in_no_way() -> None:
    note = Passage("Cancer of the lung.", (Span(0, 18, "DISEASE"),))
    agreement = measure_concept(terms("cancer", "lung"), [note])
    assert agreement.spans[""].recall == 1.0
    assert agreement.words[""].annotated == 2


def test_what_says_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="reads annotations itself"):
        measure_concept(annotated(), NOTES)
    with pytest.raises(InvalidInputError, match="no text is annotated"):
        measure_concept(CONCEPT, ["gout"])
    with pytest.raises(UnknownNameError, match="unknown annotated label 'DISEASES'; did you mean 'DISEASE'"):
        measure_concept(CONCEPT, NOTES, labels=["DISEASES"])
