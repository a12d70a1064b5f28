"""The promise for one contrast pair, in numbers and in a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context

from vecveil.accounting.profile import PrivacyProfile
from vecveil.core.checks import at_least, fraction, not_negative
from vecveil.core.errors import InvalidInputError

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
    """

    share: int
    distance: float
    worst_case: float
    delta: float
    epsilon: float
    success: float
    releases: int = 1

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
    ) -> PairPromise:
        """Return the promise for a pair.

        Args:
            profile: The pair's profile for one release.
            percentile: Percentage of pairs that are at most this far apart.
            distance: How far the pair is apart, in the distance of the guarantee.
            worst_case: Largest loss of one release, in nats: epsilon times the distance.
            delta: The δ to state ε′ with.
            releases: Number of releases of the same text, each with fresh noise.
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
        return (
            f"For {whom}, someone who holds {held}, knows everything else in the text and must say whether the private "
            f"words were in it or not, both being equally likely beforehand, is right {self.odds}; blind guessing "
            "gives 50."
        )

    def __str__(self) -> str:
        worst = f"a worst-case loss of {self.worst_case:.4g} nats"
        return f"{self.pair}, at a distance of {self.distance:.4g}: {worst}; {self.numbers}\n  {self.sentence}"
