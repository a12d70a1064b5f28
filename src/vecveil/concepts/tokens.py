"""Sensitive tokens: the words of a text that its private spans touch."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import regex

from vecveil.concepts.folding import fold
from vecveil.concepts.passage import Span

# Letters and digits, joined by single hyphens, apostrophes or dots, and in numbers by commas: "68-year-old", "o'brien",
# "1.5", "3,000". A possessive ending is no part of the word: "anna's" says as much as "anna".
_LETTER = r"[\p{L}\p{M}\p{N}]"
_POSSESSIVE = rf"'s(?!{_LETTER})"
_JOINT = rf"(?:(?!{_POSSESSIVE})'|[.\-]|(?<=\p{{N}}),(?=\p{{N}}))"
_WORD = regex.compile(rf"({_LETTER}+(?:{_JOINT}{_LETTER}+)*)(?:{_POSSESSIVE})?")

FUNCTION_WORDS = frozenset({"a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})
"""Words that a span may hold and that say nothing: "the" in "the Bank of England" is no secret."""


@dataclass(frozen=True, order=True)
class SensitiveToken:
    """A word that must not be read back, as it is compared, and the category of the span that it stands in."""

    word: str
    label: str


def words(text: str) -> tuple[str, ...]:
    """Return the words of `text` as they are compared: variants of writing made equal, case folded."""
    return tuple(match[1] for match in _WORD.finditer(fold(text, case_sensitive=False).text))


def locate_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word with its start in `text`, and its end (exclusive)."""
    folded = fold(text, case_sensitive=False)
    for match in _WORD.finditer(folded.text):
        yield match[1], folded.starts[match.start(1)], folded.ends[match.end(1) - 1]


def sensitive_tokens(text: str, spans: Iterable[Span]) -> tuple[SensitiveToken, ...]:
    """Return the paper's C_i: each word of `text` that one of its spans touches, once, without function words.

    Whole words, since that is what `words` finds in a reconstruction: where a span covers the "68" of "68-year-old",
    the token is "68-year-old", or a perfect reconstruction would not count as a leak.
    """
    located = tuple(locate_words(text))
    found: dict[str, SensitiveToken] = {}
    for span in spans:
        for word, start, end in located:
            if start < span.end and span.start < end and word not in FUNCTION_WORDS:
                found.setdefault(word, SensitiveToken(word, span.label))
    return tuple(found.values())
