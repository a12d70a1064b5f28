"""Texts as concepts see them: passages, and spans of characters in them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress
from vecveil.core.texts import to_texts

_CHUNK = 512


@dataclass(frozen=True, order=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text, the category they belong to, and the term that they stand for.

    The term is no part of what makes two spans equal, and never shown. Where it is empty, the characters are the value.
    """

    start: int
    end: int
    label: str
    term: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise InvalidInputError(f"a span must start at 0 or later and end after it, got {self.start}..{self.end}")

    def read_value(self, text: str) -> str:
        """Return the private value in its text: the term, or else the characters themselves."""
        return self.term or text[self.start : self.end]


Spans: TypeAlias = tuple[Span, ...]
"""Spans of one text, in order, none overlapping another."""


@dataclass(frozen=True)
class Passage:
    """One text, with the spans that its data set marks in it (none for most)."""

    text: str
    annotations: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        for span in self.annotations:
            if span.end > len(self.text):
                raise InvalidInputError(f"annotation {span} ends after its text of {len(self.text)} characters")


def passages(texts: Iterable[str | Passage]) -> list[Passage]:
    """Return one column of texts as passages; a plain string has no annotations."""
    rows = to_texts(texts)
    for number, text in enumerate(rows):
        if not isinstance(text, str | Passage):
            raise InvalidInputError(f"text {number} must be a string, got {type(text).__name__}")
    return [Passage(text) if isinstance(text, str) else text for text in rows]


def split_chunks(passages: Sequence[Passage], *, label: str, progress: Progress) -> Iterator[Sequence[Passage]]:
    """Return the passages in chunks, and report progress after each, under `label`."""
    chunks = [passages[start : start + _CHUNK] for start in range(0, len(passages), _CHUNK)]
    return progress(chunks, label=label, total=len(passages), weigh=len)


def merge_overlaps(spans: Iterable[Span]) -> Spans:
    """Return `spans` in order, with overlapping ones merged under the label of the longest of them.

    Merging, not choosing: a character that any part of a concept marks as private stays marked.
    """
    merged: list[Span] = []
    longest: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end, span.label, not span.term)):
        if merged and span.start < merged[-1].end:
            if span.end - span.start > longest[-1].end - longest[-1].start:
                longest[-1] = span
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end), longest[-1].label)
        else:
            merged.append(span)
            longest.append(span)
    # Several terms that overlap are a value of their own.
    return tuple(one if whole == one else whole for whole, one in zip(merged, longest, strict=True))
