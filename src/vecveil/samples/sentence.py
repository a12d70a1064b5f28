"""Sample sentences: frames filled with facts, and the spans of those."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from vecveil.samples.facts import Fact

SLOT: Final = re.compile(r"\{(a )?(\w+)\}")
"""A slot of a frame: `{symptom}`, or `{a test}` to put the article before it."""


@dataclass(frozen=True, order=True)
class SampleSpan:
    """Characters `start` to `end` (exclusive) of a sentence, and the category they belong to."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, kw_only=True)
class SampleSentence:
    """One sentence of the sample corpus.

    Attributes:
        text: The sentence.
        spans: What is named in it, in order and disjoint; the labels are NAME, AGE, SEX, CITY, DISEASE, SYMPTOM and
            MEDICATION.
        topic: The medical specialty that it was drawn from.
        frame: The frame that it was made of.
    """

    text: str
    spans: tuple[SampleSpan, ...]
    topic: str
    frame: str


def render(frame: str, facts: Mapping[str, Fact]) -> tuple[str, tuple[SampleSpan, ...]]:
    """Return the sentence that `frame` makes of `facts`, and the spans of the facts that have a label."""
    text, spans, end = "", [], 0
    for slot in SLOT.finditer(frame):
        fact = facts[slot[2]]
        text += frame[end : slot.start()] + (f"{choose_article(fact.text)} " if slot[1] else fact.lead)
        if fact.label:
            spans.append(SampleSpan(len(text), len(text) + len(fact.text), fact.label))
        text += fact.text
        end = slot.end()
    text += frame[end:]
    return text[0].upper() + text[1:], tuple(spans)


def choose_article(phrase: str) -> str:
    """Return "a" or "an", by the sound that the words and numbers of this corpus begin with."""
    number = re.match(r"\d+", phrase)
    if number:
        return "an" if number[0][0] == "8" or number[0] in {"11", "18"} else "a"
    # "Uric" and "urine" begin with the sound of "you".
    return "an" if phrase[0] in "aeioAEIO" or phrase.startswith("up") else "a"
