from __future__ import annotations

import pytest

from vecveil.concepts.annotated import Annotated
from vecveil.concepts.passage import Passage, Span
from vecveil.core.errors import InvalidInputError

_AGE, _SEX = Span(0, 2, "Age"), Span(3, 6, "Sex")
_PASSAGE = Passage("40 man", (_SEX, _AGE))


def test_all_annotations_belong_to_it_unless_labels_are_named() -> None:
    assert Annotated().find(_PASSAGE) == (_AGE, _SEX)
    assert Annotated(labels=("Age",)).find(_PASSAGE) == (_AGE,)


def test_a_text_without_annotations_has_nothing_of_it() -> None:
    assert Annotated().find_all([Passage("40 man"), _PASSAGE]) == [(), (_AGE, _SEX)]


def test_overlapping_annotations_are_merged() -> None:
    assert Annotated().find(Passage("40 man", (_AGE, Span(0, 6, "Who")))) == (Span(0, 6, "Who"),)


def test_a_blank_label_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="label 2 of 2 is blank"):
        Annotated(labels=("Age", ""))


def test_its_summary_counts_the_labels_and_names_none() -> None:
    assert Annotated(labels=("Age",)).summary() == {"kind": "annotated", "labels": 1}
