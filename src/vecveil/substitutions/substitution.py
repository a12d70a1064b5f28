"""The contract of substitutions, their registry, and texts rewritten by them."""

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
from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry, build

Draw: TypeAlias = Callable[[str, str], float]
"""Returns a random number from 0 to 1 for a label and a folded value; the same again for the same two."""

Value: TypeAlias = tuple[str, str]
"""A private value: its label, and how it is written, folded."""

REMOVED = "[removed]"
"""Stands where nothing else is left to stand: a model needs a text."""

_ARTICLE = re.compile(r"(?<!\w)(an?)\s+$", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’](?:s\b|(?!\w))", re.IGNORECASE)
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
    before a value and an apostrophe after it go with it, since "an" and "James'" tell how it begins and ends.

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
    """Return a span with the article or the quote before it, and the possessive or the quote after it.

    Nothing depends on the value itself: whether an apostrophe ends a name or a quotation is told by the name's letters.
    """
    article = _ARTICLE.search(text, max(0, span.start - 8), span.start)
    start = article.start() if article else span.start - _is_quoted(text, span)
    possessive = _POSSESSIVE.match(text, span.end)
    return Span(start, possessive.end() if possessive else span.end, span.label)


def _inflect(text: str, span: Span, outcome: str) -> str:
    """Return what stands in the place of a widened span: the outcome, with an article and a possessive of its own."""
    wide = _widen(text, span)
    if not outcome or _is_quoted(text, span):
        return outcome
    article = ("an " if outcome[0].lower() in "aeiou" else "a ") if wide.start < span.start else ""
    return article + outcome + ("'s" if wide.end > span.end else "")


def _is_quoted(text: str, span: Span) -> bool:
    return span.start > 0 and text[span.start - 1] in _QUOTES


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


SUBSTITUTIONS: Registry[type[Substitution]] = Registry(
    kind="substitution",
    builtin={
        "keep": "vecveil.substitutions.plain:Keep",
        "placeholder": "vecveil.substitutions.plain:Placeholder",
        "randomize": "vecveil.substitutions.randomize:Randomize",
        "remove": "vecveil.substitutions.plain:Remove",
    },
    group="vecveil.substitutions",
)

DEFAULT_SUBSTITUTION = "remove"


def build_substitution(name: str, settings: Mapping[str, Any] | None = None) -> Substitution:
    """Return the substitution registered as `name`, with `settings` over its defaults."""
    return build(SUBSTITUTIONS, name, settings or {})


def substitution_from_settings(settings: Any) -> Substitution:
    """Return the substitution whose `settings()` these are, as a veil keeps them."""
    if not isinstance(settings, Mapping) or not isinstance(settings.get("name"), str):
        raise InvalidInputError(f"a substitution is a table with a name, got {type(settings).__name__}")
    return build_substitution(settings["name"], {key: value for key, value in settings.items() if key != "name"})
