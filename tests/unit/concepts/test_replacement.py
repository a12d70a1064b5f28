from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts.passage import Passage
from vecveil.concepts.replacement import collect_surfaces, replace_spans
from vecveil.concepts.span import Span
from vecveil.core.errors import InvalidInputError

_SURFACES = {"DISEASE": ("asthma", "gout"), "CITY": ("Paris", "Rome")}


def test_a_span_gets_another_form_of_its_own_label() -> None:
    spans = [Span(0, 4, "CITY"), Span(9, 15, "DISEASE")]
    assert replace_spans("Rome has asthma.", spans, _SURFACES, np.random.default_rng(0)) == "Paris has gout."


def test_the_first_letter_keeps_its_capital() -> None:
    assert replace_spans("Asthma hurts", [Span(0, 6, "DISEASE")], _SURFACES, np.random.default_rng(0)) == "Gout hurts"


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_a_form_that_differs_only_in_case_is_not_another(seed: int) -> None:
    surfaces = {"DISEASE": ("asthma", "ASTHMA", "gout")}
    replaced = replace_spans("ASTHMA", [Span(0, 6, "DISEASE")], surfaces, np.random.default_rng(seed))
    assert replaced == "Gout"


def test_every_other_form_is_chosen_at_some_time() -> None:
    surfaces = {"X": ("a", "b", "c", "d")}
    rng = np.random.default_rng(0)
    assert {replace_spans("a", [Span(0, 1, "X")], surfaces, rng) for _ in range(100)} == {"b", "c", "d"}


@pytest.mark.parametrize(("surfaces", "count"), [({"DISEASE": ("asthma",)}, 1), ({}, 0)])
def test_a_label_with_one_form_is_an_error_that_does_not_tell_it(surfaces: dict[str, tuple[str]], count: int) -> None:
    with pytest.raises(InvalidInputError, match=rf"'DISEASE' has {count} distinct surface form") as caught:
        replace_spans("asthma", [Span(0, 6, "DISEASE")], surfaces, np.random.default_rng(0))
    assert "asthma" not in str(caught.value)


def test_surfaces_are_collected_by_label_without_regard_to_case_and_line_breaks() -> None:
    passages = [Passage("Asthma or heart\nfailure"), Passage("asthma in Rome"), Passage("nothing")]
    found = [
        (Span(0, 6, "DISEASE"), Span(10, 23, "DISEASE")),
        (Span(0, 6, "DISEASE"), Span(10, 14, "CITY")),
        (),
    ]
    assert collect_surfaces(passages, found) == {"CITY": ("Rome",), "DISEASE": ("asthma", "heart failure")}
