from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vecveil.concepts import Concept, Passage, Span, annotated, patterns, terms, words
from vecveil.concepts.passage import passages
from vecveil.concepts.rewriting import PLACEHOLDER, build_rewriter, substitute
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


def test_annotations_that_came_with_the_text_are_rewritten_too() -> None:
    marked = [Passage("Ann is ill.", (Span(0, 3, "NAME"),)), Passage("Bea is well.", (Span(0, 3, "NAME"),))]
    rng = np.random.default_rng(0)
    assert build_rewriter("remove").rewrite(marked, annotated("NAME"), rng) == ["is ill.", "is well."]
    semantic = build_rewriter("semantic-replacement").rewrite(marked, annotated("NAME"), rng)
    assert semantic == ["Bea is ill.", "Ann is well."]


def test_personal_data_is_masked_word_by_word_whatever_the_concept_is() -> None:
    text = "Angela Merkel has gout and wrote to jane.doe@example.com."
    assert _rewrite("remove-pii", [text]) == ["* * has gout and wrote to *."]
    assert _rewrite("remove-pii", [text], mask="") == ["has gout and wrote to."]
    assert _rewrite("remove-pii", [text], entities=("EMAIL_ADDRESS",)) == ["Angela Merkel has gout and wrote to *."]


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


def test_a_substitute_takes_over_the_capital() -> None:
    assert substitute("Gout hurts", [Span(0, 4, "X")], lambda *_: "tea") == "Tea hurts"
    assert substitute("a b c", [Span(4, 5, "Y"), Span(0, 1, "X")], lambda old, label: old + label) == "aX b cY"


def test_progress_hears_of_every_text() -> None:
    heard: list[int] = []

    def count(items: Iterable[T], *, label: str, total: int | None = None, weigh: Any = None) -> Iterator[T]:
        for item in items:
            heard.append(weigh(item))
            yield item

    texts = [Passage("all is well")] * 1000
    assert build_rewriter("remove").rewrite(texts, _ILLNESS, np.random.default_rng(0), progress=count)
    assert heard == [512, 488]


def test_a_replacement_for_a_part_of_a_word_holds_nothing_of_that_part() -> None:
    texts = [Passage(text) for text in ("a London-based firm", "a London bridge", "a Paris firm")]
    concept = terms("London", "London bridge", "Paris", label="PLACE")
    rewritten = build_rewriter("semantic-replacement").rewrite(texts, concept, np.random.default_rng(0))
    assert rewritten[0] == "a Paris-based firm"
