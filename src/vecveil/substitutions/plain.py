"""Substitutions without chance: keep, remove, placeholder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from vecveil.core.errors import InvalidInputError
from vecveil.substitutions.substitution import Substitution

PHRASES = {
    "AGE": "of some age",
    "CARDINAL": "some",
    "DATE": "one day",
    "DATE_TIME": "one day",
    "DISEASE": "a condition",
    "EMAIL_ADDRESS": "an address",
    "EVENT": "an event",
    "FAC": "a place",
    "GPE": "a place",
    "LOC": "a place",
    "LOCATION": "a place",
    "MONEY": "an amount",
    "NORP": "a group",
    "ORG": "an organization",
    "ORGANIZATION": "an organization",
    "PERCENT": "a share",
    "PERSON": "someone",
    "PHONE_NUMBER": "a number",
    "PRODUCT": "a product",
    "TIME": "one time",
    "URL": "an address",
    "WORD": "something",
}
"""Neutral phrases for the labels of common recognizers."""


@dataclass(frozen=True, kw_only=True)
class Keep(Substitution):
    """Leave private words where they stand: shape and noise alone protect them, as in the paper."""

    name: ClassVar[str] = "keep"
    word_epsilon: ClassVar[float] = math.inf

    def outcomes(self, label: str, value: str) -> Mapping[str, float]:
        """Return the value itself."""
        return {value: 1.0}


@dataclass(frozen=True, kw_only=True)
class Remove(Substitution):
    """Take private words out, and close the gaps. What is released does not depend on them."""

    name: ClassVar[str] = "remove"
    word_epsilon: ClassVar[float] = 0.0

    def outcomes(self, label: str, value: str) -> Mapping[str, float]:
        """Return nothing, for any value."""
        return {"": 1.0}


@dataclass(frozen=True, kw_only=True)
class Placeholder(Substitution):
    """Put a neutral phrase of their category in the place of private words: "someone" for a person.

    Texts stay grammatical, and tell that a word of the category stood there, but not which.

    Attributes:
        phrases: Phrases by label, before the built-in ones; a label that neither has becomes its own words.
    """

    name: ClassVar[str] = "placeholder"
    word_epsilon: ClassVar[float] = 0.0

    phrases: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for label, phrase in self.phrases.items():
            if not isinstance(phrase, str) or not phrase.strip():
                raise InvalidInputError(f"the phrase of {label!r} must be a text, got {phrase!r}")

    def outcomes(self, label: str, value: str) -> Mapping[str, float]:
        """Return the phrase of the label, for any value."""
        phrase = {**PHRASES, **self.phrases}.get(label)
        return {phrase or label.replace("_", " ").replace("-", " ").lower(): 1.0}
