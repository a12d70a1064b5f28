"""The bundled concept finds all that the sample corpus marks as disease or age, and nothing else."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import regex

from vecveil.samples import SampleSentence, clinical_sentences, concept_path
from vecveil.samples.lexicon import DISEASES, MEDICATIONS, SYMPTOMS


@pytest.fixture(scope="module")
def concept() -> dict[str, Any]:
    return tomllib.loads(concept_path().read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def corpus() -> tuple[SampleSentence, ...]:
    return clinical_sentences(count=5000)


def marked(sentence: SampleSentence, label: str) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in sentence.spans if span.label == label]


def word_pattern(words: tuple[str, ...] | list[str]) -> regex.Pattern[str]:
    # Longest first, so that "type 2 diabetes" is not found as "diabetes".
    longest_first = sorted(words, key=len, reverse=True)
    return regex.compile(rf"\b(?:{'|'.join(map(regex.escape, longest_first))})\b", regex.IGNORECASE)


def test_concept_is_the_terms_of_a_disease_and_the_patterns_of_an_age(concept: dict[str, Any]) -> None:
    assert concept["name"] == "disease and age"
    terms, patterns = concept["part"]
    assert (terms["kind"], terms["label"]) == ("terms", "DISEASE")
    assert (patterns["kind"], patterns["timeout"], set(patterns["patterns"])) == ("patterns", 1.0, {"AGE"})


def test_terms_are_the_diseases_of_the_lexicon(concept: dict[str, Any]) -> None:
    assert tuple(concept["part"][0]["terms"]) == DISEASES


def test_terms_find_all_diseases_and_nothing_else(concept: dict[str, Any], corpus: tuple[SampleSentence, ...]) -> None:
    pattern = word_pattern(concept["part"][0]["terms"])
    for sentence in corpus:
        assert [found.span() for found in pattern.finditer(sentence.text)] == marked(sentence, "DISEASE")


@pytest.mark.parametrize("flags", [0, regex.IGNORECASE], ids=["as written", "ignoring case"])
def test_age_pattern_finds_all_ages_and_nothing_else(
    flags: int, concept: dict[str, Any], corpus: tuple[SampleSentence, ...]
) -> None:
    pattern = regex.compile(concept["part"][1]["patterns"]["AGE"], flags)
    for sentence in corpus:
        assert [found.span() for found in pattern.finditer(sentence.text)] == marked(sentence, "AGE")


@pytest.mark.parametrize(
    "form", [r"\d+-year-old", r"\d+ years old", r"aged \d+", r"age \d+", r"\d+"], ids=lambda form: form
)
def test_ages_take_every_form(form: str, corpus: tuple[SampleSentence, ...]) -> None:
    ages = [sentence.text[start:end] for sentence in corpus for start, end in marked(sentence, "AGE")]
    assert sum(bool(regex.fullmatch(form, age)) for age in ages) >= 50


@pytest.mark.parametrize(("label", "words"), [("SYMPTOM", SYMPTOMS), ("MEDICATION", MEDICATIONS)])
def test_symptoms_and_medications_are_marked_wherever_they_stand(
    label: str, words: tuple[str, ...], corpus: tuple[SampleSentence, ...]
) -> None:
    pattern = word_pattern(words)
    for sentence in corpus:
        assert [found.span() for found in pattern.finditer(sentence.text)] == marked(sentence, label)
