"""Example texts for the page, with private and leaked words marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import regex

from vecveil.audit.rows import Example, Reconstruction
from vecveil.concepts.folding import fold
from vecveil.reports.conditions import Condition

_WORD_SIGN = r"[\p{L}\p{M}\p{N}]"
_JOINT = r"['’.,\-]"

Segment = tuple[str, str]
"""A piece of a text and its mark: the label of a private span, "leaked", or nothing."""


def example_data(
    examples: Sequence[Example], conditions: tuple[Condition, ...], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the examples as the page's script reads them.

    Args:
        examples: Texts and what was read of them.
        conditions: A reading is known by the place of its condition among these.
        names: Attacks as people read them.

    Texts are cut here and not in the browser, since it counts characters in another way.
    """
    return [
        {
            "original": mark_spans(example.text, example.spans),
            "tokens": list(example.tokens),
            "readings": _readings(example.readings, conditions, names),
        }
        for example in examples
    ]


def mark_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> list[Segment]:
    """Return `text` in pieces, private spans under their labels; spans that overlap an earlier one are left out."""
    segments: list[Segment] = []
    end = 0
    for start, stop, label in sorted(spans):
        if start >= end and stop > start:
            segments += [(text[end:start], ""), (text[start:stop], label or "private")]
            end = stop
    segments.append((text[end:], ""))
    return [segment for segment in segments if segment[0]]


def mark_words(text: str, leaked: Sequence[str]) -> list[Segment]:
    """Return `text` in pieces, with the words that are among `leaked` marked, however they are written."""
    if not leaked:
        return [(text, "")] if text else []
    folded = fold(text, case_sensitive=False)
    # The longest first, and whole words only: "berlin" is not marked within "berliner" or "east-berlin".
    choices = "|".join(regex.escape(word) for word in sorted(leaked, key=len, reverse=True))
    whole = regex.compile(
        rf"(?<!{_WORD_SIGN})(?<!{_WORD_SIGN}{_JOINT})(?:{choices})(?!{_WORD_SIGN})(?!{_JOINT}{_WORD_SIGN})"
    )
    found = [(folded.starts[match.start()], folded.ends[match.end() - 1]) for match in whole.finditer(folded.text)]
    return mark_spans(text, [(start, end, "leaked") for start, end in found])


def _readings(
    readings: Iterable[Reconstruction], conditions: tuple[Condition, ...], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    first: dict[tuple[int, str], dict[str, Any]] = {}
    for reading in readings:
        condition = Condition.from_setting(reading.setting)
        if condition not in conditions:
            continue
        # One seed is enough to show what was read.
        first.setdefault(
            (conditions.index(condition), reading.attack),
            {
                "point": conditions.index(condition),
                "attack": names.get(reading.attack, reading.attack),
                "text": None if reading.text is None else mark_words(reading.text, reading.leaked),
                "leaked": list(reading.leaked),
                "similarity": reading.similarity,
            },
        )
    return list(first.values())
