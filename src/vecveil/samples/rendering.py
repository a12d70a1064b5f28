"""From a frame with slots to a sentence with spans."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from vecveil.samples.facts import Fact, Facts
from vecveil.samples.sentence import SampleSpan

SLOT: Final = re.compile(r"\{(a )?(\w+)\}")
"""A slot of a frame: `{symptom}`, or `{a test}` to put the article before it."""


def render(frame: str, facts: Facts) -> tuple[str, tuple[SampleSpan, ...]]:
    """Return the sentence that `frame` makes of `facts`, and the spans of the facts that have a label."""
    text = ""
    spans = []
    done = 0
    for slot in SLOT.finditer(frame):
        fact = facts[slot[2]]
        if slot[1]:
            fact = replace(fact, lead=f"{article(fact.text)} ")
        text += frame[done : slot.start()] + fact.lead
        spans += _spans(fact, len(text))
        text += fact.text
        done = slot.end()
    text += frame[done:]
    return text[0].upper() + text[1:], tuple(spans)


def article(phrase: str) -> str:
    """Return "a" or "an", by the sound that the words and numbers of this corpus begin with."""
    number = re.match(r"\d+", phrase)
    if number:
        return "an" if number[0][0] == "8" or number[0] in {"11", "18"} else "a"
    # "Uric" and "urine" begin with the sound of "you".
    return "an" if phrase[0] in "aeioAEIO" or phrase.startswith("up") else "a"


def _spans(fact: Fact, start: int) -> list[SampleSpan]:
    return [SampleSpan(start, start + len(fact.text), fact.label)] if fact.label else []
