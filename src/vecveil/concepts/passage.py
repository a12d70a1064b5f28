"""A text as a concept sees it: the characters, and the annotations that came with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vecveil.concepts.span import Span
from vecveil.core.errors import InvalidInputError


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
    """Return `texts` as passages; a plain string has no annotations."""
    if isinstance(texts, str):
        raise InvalidInputError("texts must be a list of texts, got one string; put it into a list")
    found = []
    for number, text in enumerate(texts):
        if not isinstance(text, str | Passage):
            raise InvalidInputError(f"text {number} must be a string, got {type(text).__name__}")
        found.append(Passage(text) if isinstance(text, str) else text)
    return found
