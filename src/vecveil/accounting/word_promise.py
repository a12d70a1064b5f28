"""The promise for private words that are replaced before embedding."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vecveil.core.checks import not_negative

WHAT_IS_TOLD = {
    "remove": "what the rest of the text tells",
    "placeholder": "where such words stood, of which category, and what the rest of the text tells",
    "randomize": "where such words stood, of which category, which of them are the same, and what the rest of the text "
    "tells",
}


@dataclass(frozen=True, kw_only=True)
class WordPromise:
    """What a release tells of the words that the concept found in a text, whatever else someone knows.

    Attributes:
        substitution: Name of what becomes of the words.
        epsilon: The most that a release tells of which value stood somewhere, in nats, for each different value.
    """

    substitution: str
    epsilon: float

    def __post_init__(self) -> None:
        if not math.isinf(self.epsilon):
            not_negative(self.epsilon, "epsilon of a word")

    @property
    def sentence(self) -> str:
        """The promise in one sentence that can be said to anyone."""
        if self.epsilon == 0:
            return "a protected vector does not depend on the private words that the concept finds"
        return (
            f"a protected vector changes the odds between two private words by a factor of at most e^{self.epsilon:g}"
        )

    def __str__(self) -> str:
        if self.epsilon == 0:
            promise = "two texts with other words in the same places have the same release"
        else:
            promise = (
                f"exchanging one value for another in all its places changes the odds by a factor of at most "
                f"e^{self.epsilon:g}, and exchanging k values by e^({self.epsilon:g}·k)"
            )
        return (
            f"{self.substitution}, ε = {self.epsilon:g} for each different value: {promise}\n"
            f"still told:  {WHAT_IS_TOLD.get(self.substitution, 'what the rest of the text tells')}\n"
            "not covered: words that the concept does not find, and queries\n"
            "it holds if: the concept finds the one value where it finds the other"
        )
