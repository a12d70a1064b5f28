from __future__ import annotations

from typing import Any

import pytest

from vecveil.concepts.annotated import Annotated
from vecveil.concepts.content_words import ContentWords
from vecveil.concepts.passage import Passage
from vecveil.concepts.patterns import Patterns
from vecveil.concepts.span import Span
from vecveil.concepts.terms import Terms
from vecveil.concepts.union import Union
from vecveil.core.errors import InvalidInputError

_TERMS = Terms(terms=("gout",), label="DISEASE")
_PATTERNS = Patterns.of({"AGE": r"\d+"})
_ANNOTATED = Annotated()


def test_a_union_finds_what_any_part_finds() -> None:
    passage = Passage("gout at 40, so", (Span(12, 14, "MARKED"),))
    assert (_TERMS | _PATTERNS | _ANNOTATED).find(passage) == (
        Span(0, 4, "DISEASE"),
        Span(8, 10, "AGE"),
        Span(12, 14, "MARKED"),
    )


def test_finds_that_overlap_are_merged() -> None:
    union = _TERMS | Patterns.of({"NOTE": "gout at"})
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
    assert Union(parts=(part,), name="anything").find_contrast([passage]) == part.find_contrast([passage])
    together = (part | Terms(terms=("has",))).find_contrast([passage])[0]
    assert len(together) == len(part.find_contrast([passage])[0]) + 1
