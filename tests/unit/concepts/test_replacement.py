from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts import Concept, patterns, terms, words
from vecveil.concepts.passage import Passage, Span, passages
from vecveil.concepts.replacement import collect_surfaces, replace_spans
from vecveil.concepts.rewriting import PLACEHOLDER, build_rewriter
from vecveil.core.errors import InvalidInputError

_ILLNESS = terms("gout", "asthma", "heart failure", "zoster", label="DISEASE")
_WORDS = ["gout", "asthma", "Gout", "heart failure", "heart", "failure", "zoster", "so", "he", "well", "tea"]
_CORPUS = st.lists(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=5)
_SURFACES = {"DISEASE": ("asthma", "gout"), "CITY": ("Paris", "Rome")}


def _rewrite(name: str, texts: list[str], concept: Concept = _ILLNESS, seed: int = 0, **choices: Any) -> list[str]:
    return build_rewriter(name, choices).rewrite(passages(texts), concept, np.random.default_rng(seed))


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
    corpus = [Passage("Asthma or heart\nfailure"), Passage("asthma in Rome"), Passage("nothing")]
    found = [
        (Span(0, 6, "DISEASE"), Span(10, 23, "DISEASE")),
        (Span(0, 6, "DISEASE"), Span(10, 14, "CITY")),
        (),
    ]
    assert collect_surfaces(corpus, found) == {"CITY": ("Rome",), "DISEASE": ("asthma", "heart failure")}


@settings(deadline=None)
@given(_CORPUS, st.integers(0, 100))
def test_random_replacement_leaves_nothing_that_the_concept_finds(texts: list[str], seed: int) -> None:
    rewritten = _rewrite("random-replacement", [*texts, "the plain heart, a failure"], seed=seed)
    assert all(_ILLNESS.find(text) == () for text in rewritten)


@settings(deadline=None)
@given(_CORPUS, st.integers(0, 100))
def test_random_words_come_from_the_corpus_and_are_nowhere_private(texts: list[str], seed: int) -> None:
    corpus = [*texts, "he is here"]
    private = {w for text in corpus for span in _ILLNESS.find(text) for w in words(text[span.start : span.end])}
    drawable = {word for text in corpus for word in words(_ILLNESS.remove(text))}
    for text, rewritten in zip(corpus, _rewrite("random-replacement", corpus, seed=seed), strict=True):
        assert set(words(rewritten)) <= drawable | {"removed"}
        kept, now = Counter(words(_ILLNESS.remove(text))), Counter(words(rewritten))
        assert all(now[word] <= kept[word] for word in private)


def test_a_span_gets_as_many_random_words_as_it_had() -> None:
    (rewritten, _) = _rewrite("random-replacement", ["He has heart failure.", "red green blue"])
    assert len(words(rewritten)) == 4
    assert rewritten.startswith("He has ")
    assert set(words(rewritten)[2:]) <= {"he", "has", "red", "green", "blue"}


def test_random_words_that_stay_private_are_removed_in_the_end() -> None:
    digits = patterns(NUMBER=r"\d+|tea tea")
    assert _rewrite("random-replacement", ["tea 5"], digits) == [PLACEHOLDER]


def test_texts_of_private_words_alone_get_the_placeholder() -> None:
    assert _rewrite("random-replacement", ["gout", "asthma, gout"]) == [PLACEHOLDER, f"{PLACEHOLDER}, {PLACEHOLDER}"]


@settings(deadline=None)
@given(_CORPUS, st.integers(0, 100))
def test_semantic_replacement_puts_none_of_a_texts_own_private_words_back(texts: list[str], seed: int) -> None:
    for text, rewritten in zip(texts, _rewrite("semantic-replacement", texts, seed=seed), strict=True):
        single = {"gout", "asthma", "zoster"} & set(words(text))
        assert single.isdisjoint(words(rewritten))
        assert bool(_ILLNESS.find(rewritten) or PLACEHOLDER in rewritten) == bool(_ILLNESS.find(text))


def test_semantic_replacement_stays_within_the_category() -> None:
    concept = terms("gout", "zoster", label="DISEASE") | terms("Rome", "Paris", label="CITY")
    rewritten = _rewrite("semantic-replacement", ["In Rome gout hurts", "in Paris zoster"], concept)
    assert rewritten == ["In Paris zoster hurts", "in Rome gout"]


def test_a_form_that_shares_a_word_with_the_text_is_no_replacement() -> None:
    concept = terms("diabetes", "type 1 diabetes", "gout", label="DISEASE")
    texts = ["He has type 1 diabetes.", "She has diabetes.", "His gout hurts."]
    for seed in range(10):
        assert _rewrite("semantic-replacement", texts, concept, seed)[:2] == ["He has gout.", "She has gout."]


def test_a_category_without_another_form_gets_the_placeholder() -> None:
    assert _rewrite("semantic-replacement", ["He has gout.", "fine"]) == [f"He has {PLACEHOLDER}.", "fine"]


@pytest.mark.parametrize("name", ["random-replacement", "semantic-replacement"])
def test_the_seed_decides(name: str) -> None:
    texts = ["gout here", "zoster there", "asthma now", "so it was with some other words", "heart failure"]
    by_seed = [_rewrite(name, texts, seed=seed) for seed in (1, 1, 2)]
    assert by_seed[0] == by_seed[1] != by_seed[2]


def test_a_replacement_for_a_part_of_a_word_holds_nothing_of_that_part() -> None:
    texts = [Passage(text) for text in ("a London-based firm", "a London bridge", "a Paris firm")]
    concept = terms("London", "London bridge", "Paris", label="PLACE")
    rewritten = build_rewriter("semantic-replacement").rewrite(texts, concept, np.random.default_rng(0))
    assert rewritten[0] == "a Paris-based firm"


def test_forms_of_a_term_are_one_surface_and_none_replaces_another() -> None:
    concept = terms("stroke", "gout", label="X")
    corpus = [Passage("Two strokes."), Passage("A stroke."), Passage("Gout.")]
    found = concept.find_all(corpus)
    surfaces = collect_surfaces(corpus, found)
    assert surfaces == {"X": ("gout", "stroke")}
    replaced = {replace_spans("Two strokes.", found[0], surfaces, np.random.default_rng(seed)) for seed in range(8)}
    assert replaced == {"Two gout."}
