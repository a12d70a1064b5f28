from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts import Concept, Passage, Span, annotated, terms
from vecveil.concepts.passage import passages
from vecveil.concepts.removal import rewrite_spans
from vecveil.concepts.rewriting import build_rewriter, take_over_capital
from vecveil.core.errors import InvalidInputError, UnknownNameError

T = TypeVar("T")

_ILLNESS = terms("gout", "asthma", "heart failure", "zoster", label="DISEASE")
_WORDS = ["gout", "asthma", "Gout", "heart failure", "heart", "failure", "zoster", "so", "he", "well", "tea"]
_CORPUS = st.lists(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=5)


def _rewrite(name: str, texts: list[str], concept: Concept = _ILLNESS, seed: int = 0, **choices: Any) -> list[str]:
    return build_rewriter(name, choices).rewrite(passages(texts), concept, np.random.default_rng(seed))


@settings(deadline=None)
@given(_CORPUS)
def test_removal_leaves_nothing_that_the_concept_finds(texts: list[str]) -> None:
    assert all(_ILLNESS.find(text) == () for text in _rewrite("remove", texts))


def test_removal_looks_again_at_what_the_gap_brought_together() -> None:
    assert _rewrite("remove", ["a heart gout failure here"]) == ["a here"]


def test_annotations_that_came_with_the_text_are_rewritten_too() -> None:
    marked = [Passage("Ann is ill.", (Span(0, 3, "NAME"),)), Passage("Bea is well.", (Span(0, 3, "NAME"),))]
    rng = np.random.default_rng(0)
    assert build_rewriter("remove").rewrite(marked, annotated("NAME"), rng) == ["is ill.", "is well."]
    semantic = build_rewriter("semantic-replacement").rewrite(marked, annotated("NAME"), rng)
    assert semantic == ["Bea is ill.", "Ann is well."]


@pytest.mark.parametrize(
    ("name", "choices", "reason"),
    [
        ("remove-pi", {}, "unknown rewriter 'remove-pi'; did you mean 'remove-pii'"),
        ("random-replacement", {"round": 3}, "setting of the rewriter 'random-replacement' 'round'"),
        ("random-replacement", {"rounds": 0}, "rounds must be a whole number of at least 1"),
        ("remove-pii", {"mask": 0}, "mask must be a string, got 0"),
        ("remove-pii", {"score": 2}, "score must lie between 0 and 1"),
        ("remove-pii", {"entities": "PERSON"}, "got one string"),
    ],
)
def test_names_and_settings_are_checked_at_birth(name: str, choices: dict[str, Any], reason: str) -> None:
    with pytest.raises((InvalidInputError, UnknownNameError), match=reason):
        build_rewriter(name, choices)


def test_a_substitute_may_take_over_the_capital() -> None:
    assert rewrite_spans("Gout hurts", [Span(0, 4, "X")], take_over_capital(lambda *_: "tea")) == "Tea hurts"
    assert rewrite_spans("Gout hurts", [Span(0, 4, "X")], lambda *_: "tea") == "tea hurts"
    assert rewrite_spans("a b c", [Span(4, 5, "Y"), Span(0, 1, "X")], lambda old, label: old + label) == "aX b cY"


def test_progress_hears_of_every_text() -> None:
    heard: list[int] = []

    def count(items: Iterable[T], *, label: str, total: int | None = None, weigh: Any = None) -> Iterator[T]:
        for item in items:
            heard.append(weigh(item))
            yield item

    texts = [Passage("all is well")] * 1000
    assert build_rewriter("remove").rewrite(texts, _ILLNESS, np.random.default_rng(0), progress=count)
    assert heard == [512, 488]
