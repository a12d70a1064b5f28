"""The sensitive tokens of a text: the words of its private spans, which attacks try to read back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import regex

from vecveil.concepts.folding import fold
from vecveil.concepts.span import Span

# Letters and digits, joined by single hyphens, apostrophes, dots or commas: "68-year-old", "o'brien", "1.5", "3,000".
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’.,\-][\p{L}\p{M}\p{N}]+)*")

FUNCTION_WORDS = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})
"""Words that a span may hold and that tell nothing: "the" in "the Bank of England" is no secret."""


@dataclass(frozen=True, order=True)
class SensitiveToken:
    """A word that must not be read back, as it is compared, and the category of the span that it stands in."""

    word: str
    label: str


def words(text: str) -> tuple[str, ...]:
    """Return the words of `text` as they are compared: variants of writing made equal, case folded."""
    return tuple(_WORD.findall(fold(text, case_sensitive=False).text))


def sensitive_tokens(text: str, spans: Iterable[Span]) -> tuple[SensitiveToken, ...]:
    """Return the paper's C_i: each word of the spans of `text` once, in order, without function words."""
    found: dict[str, SensitiveToken] = {}
    for span in spans:
        for word in words(text[span.start : span.end]):
            if word not in FUNCTION_WORDS:
                found.setdefault(word, SensitiveToken(word, span.label))
    return tuple(found.values())
