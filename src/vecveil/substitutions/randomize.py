"""Randomized response: the word itself, or any other of its category."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

from vecveil.core.checks import positive
from vecveil.core.errors import InvalidInputError
from vecveil.substitutions.substitution import Substitution, fold_value

FEWEST = 2
"""Candidates that a category needs: among fewer there is nothing to hide in."""

LARGEST = 30.0
"""An epsilon beyond this hides nothing, and chances that small are no numbers of 53 bits."""


@dataclass(frozen=True, kw_only=True)
class Randomize(Substitution):
    """Keep a word with probability e^ε/(e^ε + k − 1), or else put any other of the k candidates of its category there.

    That is k-ary randomized response: ε-local differential privacy for each word, whatever the attacker knows. A value
    that is no candidate becomes any of them, each alike, which tells less than ε too.

    Attributes:
        epsilon: The most that an outcome tells of one word, in nats.
        candidates: What can stand in a word's place, by label. Where a label has none, the values of the corpus are
            taken, which tells those who hold the veil that these values stand somewhere in it.
    """

    name: ClassVar[str] = "randomize"

    epsilon: float = 4.0
    candidates: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)
    taken: Sequence[str] = ()

    def __post_init__(self) -> None:
        if positive(self.epsilon, "epsilon of a word") > LARGEST:
            raise InvalidInputError(
                f"epsilon of a word must be at most {LARGEST:g}, got {self.epsilon!r}; nothing is hidden beyond that"
            )
        if not isinstance(self.candidates, Mapping):
            raise InvalidInputError(f"candidates must be words by category, got {type(self.candidates).__name__}")
        if isinstance(self.taken, str) or not all(isinstance(label, str) for label in self.taken):
            raise InvalidInputError(f"taken must be a list of categories, got {type(self.taken).__name__}")
        object.__setattr__(self, "taken", tuple(self.taken))
        known = {label: _distinct(values, label) for label, values in self.candidates.items()}
        object.__setattr__(self, "candidates", known)

    @property
    def word_epsilon(self) -> float:
        """The most that an outcome tells of one word."""
        return self.epsilon

    def outcomes(self, label: str, value: str) -> Mapping[str, float]:
        """Return the candidates of the label, each with its probability."""
        forms = self._forms.get(label)
        if forms is None:
            raise InvalidInputError(
                f"no candidates are known for the category {label!r}: name some, or learn the veil on texts with it"
            )
        own = forms.get(fold_value(value))
        if own is None:
            return dict.fromkeys(forms.values(), 1 / len(forms))
        # exp(-ε) in both, so that no large ε overflows.
        kept = 1 / (1 + (len(forms) - 1) * math.exp(-self.epsilon))
        other = math.exp(-self.epsilon) * kept
        return {form: kept if form == own else other for form in forms.values()}

    def fit(self, listed: Mapping[str, Sequence[str]], values: Mapping[str, Sequence[str]]) -> Self:
        """Return it with candidates for all labels: its own, or else the concept's words, or else the corpus's."""
        known = {**listed, **self.candidates}
        taken = {*self.taken} | {*values} - {*known}
        return replace(self, candidates={**values, **known}, taken=sorted(taken))

    @cached_property
    def _forms(self) -> dict[str, dict[str, str]]:
        return {label: {fold_value(form): form for form in forms} for label, forms in self.candidates.items()}


def _distinct(values: Sequence[str], label: str) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) and value.strip() for value in values):
        raise InvalidInputError(f"candidates of {label!r} must be a list of words, got {type(values).__name__}")
    forms = {fold_value(value): " ".join(value.split()) for value in values}
    if len(forms) < FEWEST:
        raise InvalidInputError(f"the category {label!r} needs at least {FEWEST} candidates, got {len(forms)}")
    return tuple(forms.values())
