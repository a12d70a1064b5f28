"""Where a concept stands in a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from vecveil.core.errors import InvalidInputError


@dataclass(frozen=True, order=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text, and the category they belong to."""

    start: int
    end: int
    label: str

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise InvalidInputError(f"a span must start at 0 or later and end after it, got {self.start}..{self.end}")


Spans: TypeAlias = tuple[Span, ...]
"""Spans of one text, in order, none overlapping another."""


def disjoint(spans: Iterable[Span]) -> Spans:
    """Return `spans` in order, with overlapping ones merged under the label of the longest of them.

    Merging, not choosing: a character that any part of a concept marks as private stays marked.
    """
    merged: list[Span] = []
    longest = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end, span.label)):
        length = span.end - span.start
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            label = span.label if length > longest else last.label
            merged[-1] = Span(last.start, max(last.end, span.end), label)
            longest = max(longest, length)
        else:
            merged.append(span)
            longest = length
    return tuple(merged)
