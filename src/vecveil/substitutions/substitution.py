"""The contract of substitutions, and a text with its private words replaced."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self, TypeAlias

from vecveil.concepts.folding import fold
from vecveil.concepts.passage import Span, Spans
from vecveil.concepts.removal import replace_pieces

Draw: TypeAlias = Callable[[str, str], float]
"""Returns a random number from 0 to 1 for a label and a folded value; the same again for the same two."""

Value: TypeAlias = tuple[str, str]
"""A private value: its label, and how it is written, folded."""

REMOVED = "[removed]"
"""Stands where nothing else is left to stand: a model needs a text."""

_ARTICLE = re.compile(r"(?<!\w)(an?)\s+$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s\b|(?<=[sxz])['’](?!\w)", re.IGNORECASE)
_QUOTES = "'‘’"


class Substitution(ABC):
    """What may stand in the place of a private word. A frozen dataclass: its fields are what users may set.

    It is nothing but a law: given a word, how likely each outcome is. What an outcome can tell of the word, and what
    the best guess of it is worth, follow from the law alone.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def word_epsilon(self) -> float:
        """The most that an outcome tells of one word, in nats: 0 for nothing, infinite for everything."""

    @property
    def taken(self) -> Sequence[str]:
        """The labels of which it holds values of a corpus."""
        return ()

    @abstractmethod
    def outcomes(self, label: str, value: str) -> Mapping[str, float]:
        """Return what may stand in the place of a value, each with its probability; an empty text removes it.

        Args:
            label: The category that the value belongs to.
            value: As it is written in the text, or the term that it is a form of.
        """

    def fit(self, listed: Mapping[str, Sequence[str]], values: Mapping[str, Sequence[str]]) -> Self:
        """Return the substitution with what it needs to know of a concept and of a corpus.

        Args:
            listed: Words of the concept itself, by label.
            values: Values that stand in the corpus, by label.
        """
        del listed, values
        return self

    def settings(self) -> dict[str, Any]:
        """Return what builds it again, fit for JSON."""
        own: Any = self
        return {"name": self.name, **json.loads(json.dumps(asdict(own)))}


def rewrite_text(
    substitution: Substitution,
    text: str,
    spans: Spans,
    draw: Draw,
    *,
    forced: Mapping[Value, str] | None = None,
    gap: str = "",
) -> tuple[str, int]:
    """Return a text with its private spans replaced, and how many different values were.

    A value has one outcome in a text, however often it stands there: repeats neither cost nor tell more. An article
    before a value and a possessive after it go with it, since "an" and "James'" tell how it begins and ends.

    Args:
        substitution: The law of what stands in their place.
        text: The text.
        spans: Its private spans.
        draw: Random numbers, one for each value.
        forced: Outcomes of values for which no number is drawn.
        gap: What stands in the place of what is removed; where empty, the gap is closed.
    """
    chosen: dict[Value, str] = dict(forced or {})
    met: set[Value] = set()
    outcomes = []
    for span in spans:
        written = span.read_value(text)
        value = span.label, fold_value(written)
        met.add(value)
        if value not in chosen:
            chosen[value] = pick(substitution.outcomes(span.label, written), draw(*value))
        outcomes.append(_inflect(text, span, chosen[value]) or gap)
    rewritten = replace_pieces(text, tuple(_widen(text, span) for span in spans), outcomes)
    left = rewritten == text or any(map(str.isalnum, rewritten))
    return (rewritten if left else REMOVED), len(met)


def _widen(text: str, span: Span) -> Span:
    """Return a span with the article before it and the possessive after it."""
    article = _ARTICLE.search(text, max(0, span.start - 8), span.start)
    quoted = text[max(0, span.start - 1) : span.start] in {*_QUOTES}
    possessive = None if quoted else _POSSESSIVE.match(text, span.end)
    return Span(article.start() if article else span.start, possessive.end() if possessive else span.end, span.label)


def _inflect(text: str, span: Span, outcome: str) -> str:
    """Return what stands in the place of a widened span: the outcome, with an article and a possessive of its own."""
    if not outcome:
        return ""
    wide = _widen(text, span)
    article = ("an " if outcome[0].lower() in "aeiou" else "a ") if wide.start < span.start else ""
    return article + outcome + ("'s" if wide.end > span.end else "")


def pick(outcomes: Mapping[str, float], number: float) -> str:
    """Return the outcome that a random number from 0 to 1 falls on."""
    last, passed = "", 0.0
    for last, probability in outcomes.items():
        passed += probability
        if number < passed:
            return last
    # The sum may be below one by a rounding error.
    return last


def fold_value(value: str) -> str:
    """Return a value with its variants of writing made equal: case, blanks, accents, apostrophes, dashes."""
    return fold(value, case_sensitive=False, letters=True).text.strip()
