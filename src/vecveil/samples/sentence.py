"""A sample sentence, and what stands where in it."""

from __future__ import annotations

from dataclasses import dataclass


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
    """

    text: str
    spans: tuple[SampleSpan, ...]
    topic: str
