"""The sample corpus: what it promises of its sentences."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.samples import SampleSentence, clinical_sentences
from vecveil.samples.clinical import LARGEST_COUNT
from vecveil.samples.everyday import CITIES, MEN, SURNAMES, WOMEN
from vecveil.samples.lexicon import TOPICS

LABELS = {"NAME", "AGE", "SEX", "CITY", "DISEASE", "SYMPTOM", "MEDICATION"}


@pytest.fixture(scope="module")
def corpus() -> tuple[SampleSentence, ...]:
    return clinical_sentences()


def surfaces(sentence: SampleSentence, label: str) -> list[str]:
    return [sentence.text[span.start : span.end] for span in sentence.spans if span.label == label]


def labels(sentence: SampleSentence) -> set[str]:
    return {span.label for span in sentence.spans}


def test_the_default_corpus_is_the_same_everywhere(corpus: tuple[SampleSentence, ...]) -> None:
    lines = (f"{s.topic}|{s.text}|{[(p.start, p.end, p.label) for p in s.spans]}\n" for s in corpus)
    digest = hashlib.sha256("".join(lines).encode()).hexdigest()
    assert digest == "3b3f4e2e4817965675e6c9cf1ccaf3cb9268360295e8e4adc3c65d5d59cdbafc"


def test_a_smaller_count_gives_the_first_sentences(corpus: tuple[SampleSentence, ...]) -> None:
    assert clinical_sentences(count=101) == corpus[:101]


def test_another_seed_gives_other_sentences(corpus: tuple[SampleSentence, ...]) -> None:
    other = {sentence.text for sentence in clinical_sentences(seed=8)}
    assert len(other & {sentence.text for sentence in corpus}) < len(corpus) // 20


@pytest.mark.parametrize("count", [1, 3000, 10_000])
def test_exactly_count_sentences_are_made_and_none_twice(count: int) -> None:
    sentences = clinical_sentences(count=count)
    assert len(sentences) == len({sentence.text for sentence in sentences}) == count


@pytest.mark.parametrize("count", [0, -1, LARGEST_COUNT + 1])
def test_a_count_that_cannot_be_made_is_refused(count: int) -> None:
    with pytest.raises(InvalidInputError, match="count must be"):
        clinical_sentences(count=count)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="seed must be"):
        clinical_sentences(count=1, seed=-1)


def test_half_of_the_sentences_tell_a_disease_or_an_age(corpus: tuple[SampleSentence, ...]) -> None:
    telling = [bool(labels(sentence) & {"DISEASE", "AGE"}) for sentence in corpus]
    assert sum(telling) == len(corpus) // 2
    # Every second sentence is no way to tell them apart.
    assert sum(telling[::2]) == pytest.approx(len(corpus) / 4, rel=0.1)


def test_disease_and_age_come_together_and_alone(corpus: tuple[SampleSentence, ...]) -> None:
    kinds = Counter(frozenset(labels(sentence) & {"DISEASE", "AGE"}) for sentence in corpus)
    assert all(number >= 200 for number in kinds.values())
    assert len(kinds) == 4


def test_every_label_occurs_often(corpus: tuple[SampleSentence, ...]) -> None:
    occurrences = Counter(span.label for sentence in corpus for span in sentence.spans)
    assert set(occurrences) == LABELS
    assert min(occurrences.values()) >= 100


def test_spans_are_in_order_and_disjoint_inside_their_text(corpus: tuple[SampleSentence, ...]) -> None:
    for sentence in corpus:
        ends = [0, *(span.end for span in sentence.spans)]
        assert all(end <= span.start < span.end for end, span in zip(ends, sentence.spans, strict=False))
        assert ends[-1] <= len(sentence.text)


def test_spans_mark_the_words_that_their_label_names(corpus: tuple[SampleSentence, ...]) -> None:
    topics = {topic.name: topic for topic in TOPICS}
    first_names = {*WOMEN, *MEN}
    for sentence in corpus:
        topic = topics[sentence.topic]
        for label, words in {
            "DISEASE": topic.diseases,
            "SYMPTOM": topic.symptoms,
            "MEDICATION": topic.medications,
            "CITY": CITIES,
            "SEX": ("woman", "man", "girl", "boy", "female", "male"),
        }.items():
            assert {word.casefold() for word in surfaces(sentence, label)} <= {word.casefold() for word in words}
        for name in surfaces(sentence, "NAME"):
            first, _, surname = name.partition(" ")
            assert name in first_names or name in SURNAMES or (first in first_names and surname in SURNAMES)


def test_ages_fit_their_topic(corpus: tuple[SampleSentence, ...]) -> None:
    topics = {topic.name: topic for topic in TOPICS}
    for sentence in corpus:
        ages = [int("".join(filter(str.isdigit, surface))) for surface in surfaces(sentence, "AGE")]
        assert all(topics[sentence.topic].youngest <= age <= topics[sentence.topic].oldest for age in ages)


def test_every_city_and_every_name_is_marked(corpus: tuple[SampleSentence, ...]) -> None:
    for label, words in {"CITY": CITIES, "NAME": (*WOMEN, *MEN, *SURNAMES)}.items():
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b")
        for sentence in corpus:
            marked = [range(span.start, span.end) for span in sentence.spans if span.label == label]
            assert all(any(found.start() in span for span in marked) for found in pattern.finditer(sentence.text))


def test_sentences_have_six_to_twenty_eight_words() -> None:
    lengths = [len(sentence.text.split()) for sentence in clinical_sentences(count=10_000)]
    assert min(lengths) == 6
    assert 25 <= max(lengths) <= 28


def test_sentences_start_with_a_capital_and_end_with_one_stop(corpus: tuple[SampleSentence, ...]) -> None:
    for sentence in corpus:
        assert re.fullmatch(r"[A-Z0-9].*[^.\s]\.", sentence.text)
        assert not re.search(r"[{}]|\s\s|\s[,.;:]", sentence.text)


def test_articles_agree_with_the_sound_that_follows() -> None:
    before_vowel = re.compile(r"an (?:[aeio]|E[A-Z]+\b|upper\b|8\d?-|11-|18-)", re.IGNORECASE)
    before_consonant = re.compile(r"a (?:[^aeiou\d\W]|uric\b|(?!8|11-|18-)\d)", re.IGNORECASE)
    articles = Counter[str]()
    for sentence in clinical_sentences(count=10_000):
        for found in re.finditer(r"\b(an?) \S+", sentence.text, re.IGNORECASE):
            expected = before_vowel if found[1].lower() == "an" else before_consonant
            assert expected.match(found[0]), found[0]
            articles[found[1].lower()] += 1
    assert min(articles["a"], articles["an"]) >= 50
