from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vecveil.concepts.annotated import Annotated
from vecveil.concepts.concept import Union
from vecveil.concepts.content_words import ContentWords
from vecveil.concepts.passage import Passage, Span
from vecveil.concepts.patterns import Patterns
from vecveil.concepts.terms import Terms
from vecveil.core.errors import InvalidInputError

_TERMS = Terms(terms=("gout",), label="DISEASE")
_PATTERNS = Patterns(patterns={"AGE": r"\d+"})
_ANNOTATED = Annotated()


def test_a_union_finds_what_any_part_finds() -> None:
    passage = Passage("gout at 40, so", (Span(12, 14, "MARKED"),))
    assert (_TERMS | _PATTERNS | _ANNOTATED).find(passage) == (
        Span(0, 4, "DISEASE"),
        Span(8, 10, "AGE"),
        Span(12, 14, "MARKED"),
    )


def test_finds_that_overlap_are_merged() -> None:
    union = _TERMS | Patterns(patterns={"NOTE": "gout at"})
    assert union.find("gout at 40") == (Span(0, 7, "NOTE"),)


def test_how_unions_are_nested_makes_no_difference() -> None:
    assert (_TERMS | _PATTERNS) | _ANNOTATED == _TERMS | (_PATTERNS | _ANNOTATED)
    assert _TERMS | (_TERMS | _PATTERNS) == _TERMS | _PATTERNS


def test_a_union_of_nothing_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="at least one concept"):
        Union(parts=())


def test_a_union_with_something_else_is_an_error() -> None:
    other: Any = "gout"
    with pytest.raises(InvalidInputError, match="made of concepts, got str"):
        _TERMS | other


def test_its_summary_holds_those_of_its_parts_but_not_its_name() -> None:
    named = Union(parts=(_TERMS, _PATTERNS), name="gout and age")
    assert named.summary() == {
        "kind": "union",
        "parts": [{"kind": "terms", "terms": 1}, {"kind": "patterns", "patterns": 1}],
    }


def test_only_a_union_has_a_name() -> None:
    assert Union(parts=(_TERMS,), name="illness").name == "illness"
    assert _TERMS.name == ""


def test_a_contrast_takes_out_what_each_part_would() -> None:
    passage = Passage("Anna has gout, asthma and a cough since Monday.")
    part = ContentWords()
    assert Union(parts=(part,), name="anything").search([passage]) == part.search([passage])
    union = part | Terms(terms=("has",))
    found, (taken_out,) = union.search([passage])
    assert found == union.find_all([passage])
    assert len(taken_out) == len(part.search([passage])[1][0]) + 1


def test_most_kinds_take_out_all_that_they_find() -> None:
    passages = [Passage("gout at 40"), Passage("well")]
    assert _TERMS.search(passages) == (_TERMS.find_all(passages), _TERMS.find_all(passages))


def test_a_text_is_a_passage_without_annotations() -> None:
    assert _TERMS.find("gout") == _TERMS.find(Passage("gout")) == (Span(0, 4, "DISEASE"),)
    assert _TERMS.remove("He has gout now") == _TERMS.remove(Passage("He has gout now")) == "He has now"


def test_what_a_union_is_meant_to_find_is_what_its_parts_are() -> None:
    union = Annotated(labels=("B", "A")) | Annotated(labels=("A", "C")) | _TERMS | _PATTERNS
    assert union.expected == ("B", "A", "C", "DISEASE", "AGE")


def test_a_union_may_be_everywhere_where_a_part_may() -> None:
    assert (_TERMS | ContentWords()).everywhere
    assert not (_TERMS | _PATTERNS).everywhere


def test_a_concept_can_be_built_again_from_its_settings() -> None:
    settings = _TERMS.settings()
    assert settings.pop("kind") == "terms"
    assert Terms.from_settings(settings, Path()) == _TERMS
    named = Union(parts=(_TERMS, _PATTERNS), name="illness")
    assert named.settings() == {"name": "illness", "part": [_TERMS.settings(), _PATTERNS.settings()]}
