"""Promises for one contrast pair, and for words that are replaced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context

from vecveil.accounting.profile import PrivacyProfile
from vecveil.core.checks import at_least, fraction, not_negative
from vecveil.core.errors import InvalidInputError
from vecveil.core.percent import percent

DELTA = 1e-6
"""One in a million: small against one over the number of records in most corpora."""

WHOM = {50: "half of the texts", 95: "all but one text in twenty"}


@dataclass(frozen=True, kw_only=True)
class PairPromise:
    """How well a text with the concept and the same text without it can be told apart, at one percentile of pairs.

    Attributes:
        share: Percentage of contrast pairs that are at most this far apart: 50 for the median pair.
        distance: How far they are apart, in the distance of the guarantee.
        worst_case: Largest loss of all releases together, in nats.
        delta: The δ that `epsilon` is stated with.
        epsilon: The exact ε′ at that δ, in nats.
        success: How often the best possible guess between the two texts is right.
        releases: Number of releases of the text that the attacker holds, each with fresh noise.
        missed: Whether it is about words that the concept misses, since those that it finds are replaced.
    """

    share: int
    distance: float
    worst_case: float
    delta: float
    epsilon: float
    success: float
    releases: int = 1
    missed: bool = False

    def __post_init__(self) -> None:
        if at_least(self.share, 1, "share") > 99:
            raise InvalidInputError(f"share must be a percentage below 100, got {self.share!r}")
        for name in ("distance", "worst_case", "epsilon"):
            not_negative(getattr(self, name), name)
        fraction(self.delta, "delta")
        if not 0.5 <= not_negative(self.success, "success") <= 1:
            raise InvalidInputError(f"success must lie between 0.5 and 1, got {self.success!r}")
        at_least(self.releases, 1, "releases")

    @classmethod
    def from_profile(
        cls,
        profile: PrivacyProfile,
        *,
        percentile: int,
        distance: float,
        worst_case: float,
        delta: float = DELTA,
        releases: int = 1,
        missed: bool = False,
    ) -> PairPromise:
        """Return the promise for a pair.

        Args:
            profile: The pair's profile for one release.
            percentile: Percentage of pairs that are at most this far apart.
            distance: How far the pair is apart, in the distance of the guarantee.
            worst_case: Largest loss of one release, in nats: epsilon times the distance.
            delta: The δ to state ε′ with.
            releases: Number of releases of the same text, each with fresh noise.
            missed: Whether it is about words that the concept misses.
        """
        whole = profile.compose(releases)
        return cls(
            share=percentile,
            distance=distance,
            worst_case=releases * worst_case,
            delta=delta,
            epsilon=min(whole.epsilon(delta), releases * worst_case),
            success=whole.success,
            releases=releases,
            missed=missed,
        )

    @property
    def pair(self) -> str:
        """Which pair it is about, such as "95th-percentile pair"."""
        return "median pair" if self.share == 50 else f"{self.share}th-percentile pair"

    @property
    def numbers(self) -> str:
        """The pair (ε′, δ), with ε′ rounded up."""
        epsilon = Context(prec=4, rounding=ROUND_CEILING).create_decimal_from_float(self.epsilon)
        return f"(ε′, δ) = ({float(epsilon):.4g}, {self.delta:g})"

    @property
    def odds(self) -> str:
        """How often the best guess is right, in words; rounded up, so that nothing is promised that doesn't hold."""
        percent = 100 * self.success
        digits = 0 if 51 <= percent <= 99 else 1 if percent <= 99.9 else 2
        cases = f"{math.ceil(percent * 10**digits) / 10**digits:g} of 100"
        return f"in practically every case (up to {cases})" if percent > 99.9 else f"in at most {cases} cases"

    @property
    def sentence(self) -> str:
        """The promise in one sentence."""
        whom = WHOM.get(self.share, f"{self.share} of 100 texts")
        held = "one released vector" if self.releases == 1 else f"{self.releases} released vectors of the same text"
        words = "words that the concept misses" if self.missed else "the private words"
        return (
            f"For {whom}, someone who holds {held}, knows everything else in the text and must say whether {words} "
            f"were in it or not, both being equally likely beforehand, is right {self.odds}; blind guessing gives 50."
        )

    def __str__(self) -> str:
        worst = f"a worst-case loss of {self.worst_case:.4g} nats"
        return f"{self.pair}, at a distance of {self.distance:.4g}: {worst}; {self.numbers}\n  {self.sentence}"


@dataclass(frozen=True, kw_only=True)
class MeasuredGuess:
    """How often the best guess of one private value was right, for someone who has the rest of the text.

    Attributes:
        right: That share.
        low: Lower end of its 95 % interval over texts.
        high: Upper end of it.
        chance: The same without the vector.
        texts: Texts that were asked about.
    """

    right: float
    low: float
    high: float
    chance: float
    texts: int

    def __str__(self) -> str:
        ends = f"{percent(self.low, 1)} to {percent(self.high, 1)} over {self.texts:,} texts"
        return f"right in {percent(self.right, 1)} of cases ({ends}), {percent(self.chance, 1)} without the vector"


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
        candidates: Values that a word is hidden among, in the smallest category; None where that is not known.
    """

    substitution: str
    epsilon: float
    candidates: int | None = None

    def __post_init__(self) -> None:
        if self.candidates is not None:
            at_least(self.candidates, 2, "candidates")
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

    @property
    def guess(self) -> str:
        """How often the best guess of one value is right, for someone who knows the rest of the text and the values."""
        if self.epsilon == 0:
            return "the best guess of a value is right as often as without the vector"
        if self.candidates is None:
            return f"the best guess among k values is right in at most e^{self.epsilon:g}/(e^{self.epsilon:g} + k − 1)"
        right = 1 / (1 + (self.candidates - 1) * math.exp(-self.epsilon))
        return (
            f"the best guess among {self.candidates:,} values is right in at most {100 * right:.3g} of 100 cases, "
            f"{100 / self.candidates:.3g} without the vector"
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
            f"best guess:  {self.guess}\n"
            f"still told:  {WHAT_IS_TOLD.get(self.substitution, 'what the rest of the text tells')}\n"
            "not covered: words that the concept does not find, and queries\n"
            "it holds if: the concept finds the one value where it finds the other"
        )
