"""The contract of substitutions, and a text with its private words replaced."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Self, TypeAlias

from vecveil.concepts.folding import fold
from vecveil.concepts.passage import Spans
from vecveil.concepts.removal import rewrite_spans

Draw: TypeAlias = Callable[[str, str], float]
"""Returns a random number from 0 to 1 for a label and a folded value; the same again for the same two."""

Value: TypeAlias = tuple[str, str]
"""A private value: its label, and how it is written, folded."""

REMOVED = "[removed]"
"""Stands where nothing else is left to stand: a model needs a text."""


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

    @abstractmethod
    def outcomes(self, label: str, value: str) -> Mapping[str, float]:
        """Return what may stand in the place of a value, each with its probability; an empty text removes it.

        Args:
            label: The category that the value belongs to.
            value: As it is written in the text.
        """

    def fit(self, values: Mapping[str, Sequence[str]]) -> Self:
        """Return the substitution with what it takes from a corpus: the values that stand there, by label."""
        del values
        return self

    def settings(self) -> dict[str, Any]:
        """Return what builds it again, fit for JSON."""
        own: Any = self
        return {"name": self.name, **json.loads(json.dumps(asdict(own)))}


def rewrite_text(
    substitution: Substitution, text: str, spans: Spans, draw: Draw, *, forced: Mapping[Value, str] | None = None
) -> tuple[str, int]:
    """Return a text with its private spans replaced, and how many different values were.

    A value has one outcome in a text, however often it stands there: repeats neither cost nor tell more.

    Args:
        substitution: The law of what stands in their place.
        text: The text.
        spans: Its private spans.
        draw: Random numbers, one for each value.
        forced: Outcomes of values for which no number is drawn.
    """
    chosen: dict[Value, str] = dict(forced or {})
    met: set[Value] = set()

    def choose(original: str, label: str) -> str:
        value = label, fold_value(original)
        met.add(value)
        if value not in chosen:
            chosen[value] = pick(substitution.outcomes(label, original), draw(*value))
        return chosen[value]

    rewritten = rewrite_spans(text, spans, choose)
    left = rewritten == text or any(map(str.isalnum, rewritten))
    return (rewritten if left else REMOVED), len(met)


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
    """Return a value with its variants of writing made equal: case, blanks, accents, apostrophes, hyphens."""
    return fold(value, case_sensitive=False).text.strip()
