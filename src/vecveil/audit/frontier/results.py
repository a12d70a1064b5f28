"""Results of a frontier as rows for JSON, without a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vecveil.audit.rows import Estimate

NO_DEFENSE, REDACTED = "none", "redacted"
"""The references: unprotected vectors, and the vectors of texts from which the concept was taken out word by word.

What an attack reads of the latter it reads from what else is in a text, as from a near copy or a topic; no defense that
keeps what texts are about can be expected to leave much less.
"""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a contender comes down to at one level of utility.

    Attributes:
        contender: Its spec.
        level: Share of undefended utility that was asked for.
        directions: How many directions it leaves out; None where that is not for it to choose.
        noise_ratio: The noise that it can bear there, over the length of an embedding; None where it can't keep that
            much utility with any noise.
        tried: What the strongest guide read above chance, for each number of directions that was tried.
    """

    contender: str
    level: float
    directions: int | None
    noise_ratio: float | None
    tried: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class FrontierPoint:
    """One contender at one level, in one repetition.

    Attributes:
        contender: Its spec; "none" or "redacted" for a reference.
        level: Share of undefended utility that was asked for; 1 for a reference.
        seed: Of split, shape, noise and attacker.
        directions: Directions that are left out.
        noise_ratio: Length of the noise over that of an embedding.
        epsilon: Literal budget; None without noise.
        utility: Share of undefended utility that was kept, by the measure that the level is of.
        search: The same of all searches.
        unnamed: The same of searches that don't name the concept.
        reranked: The same of all searches, after reranking.
        blank: How often someone is right who has the text but for one private value; None where no one can say.
        blank_chance: The same by guessing.
    """

    contender: str
    level: float
    seed: int
    directions: int
    noise_ratio: float
    epsilon: float | None
    utility: float
    search: float
    unnamed: float
    reranked: float
    blank: float | None
    blank_chance: float | None


@dataclass(frozen=True, kw_only=True)
class FrontierRow:
    """One attack on one point.

    Attributes:
        contender: Its spec.
        level: Share of undefended utility that was asked for.
        seed: Of the repetition.
        attack: Spec of the attack.
        words: Of a text's private words, the share among those that the attack is surest of.
        guess: The same for someone who always names the most frequent ones.
        leakage: Share of sensitive tokens that were claimed, the paper's measure.
        chance: The same by guessing.
        top_one: Share of texts whose surest word was right.
        auc: Chance that a word that is there scores above one that isn't.
        seconds: Time the attack took.
    """

    contender: str
    level: float
    seed: int
    attack: str
    words: float
    guess: float
    leakage: float
    chance: float
    top_one: float
    auc: float
    seconds: float

    @property
    def excess(self) -> float:
        """Words read above chance; never below zero."""
        return max(0.0, self.words - self.guess)


@dataclass(frozen=True, kw_only=True)
class FrontierResult:
    """Everything that a comparison found.

    Attributes:
        plan: What was compared, as it was asked for.
        utility: What utility was measured by, and what unprotected vectors have of it.
        corpus: Sizes and digest of the texts.
        embedder: Fingerprint of the model.
        versions: Of the libraries that numbers depend on.
        choices: Directions and noise of each contender at each level.
        points: What each comes to.
        rows: What attacks read there.
    """

    plan: Mapping[str, Any]
    utility: Mapping[str, Any]
    corpus: Mapping[str, Any]
    embedder: Mapping[str, Any]
    versions: Mapping[str, str]
    choices: tuple[Choice, ...]
    points: tuple[FrontierPoint, ...]
    rows: tuple[FrontierRow, ...]

    def excess(self, contender: str, level: float, attack: str) -> Estimate | None:
        """Return what one attack reads above chance, with its interval over seeds; None where nothing was run."""
        return mean_over_seeds([row.excess for row in self.rows_of(contender, level, attack)])

    def rows_of(self, contender: str, level: float, attack: str) -> list[FrontierRow]:
        """Return the rows of one attack on one contender at one level, one for each seed."""
        asked = (contender, level, attack)
        return [row for row in self.rows if (row.contender, row.level, row.attack) == asked]

    def points_of(self, contender: str, level: float) -> list[FrontierPoint]:
        """Return what one contender comes to at one level, one for each seed."""
        return [point for point in self.points if (point.contender, point.level) == (contender, level)]

    def strongest(self, contender: str, level: float) -> tuple[str, Estimate] | None:
        """Return the attack that reads most at a level, and how much that is above chance; None where none was run."""
        found = [(attack, self.excess(contender, level, attack)) for attack in self.plan["attacks"]]
        known = [(attack, estimate) for attack, estimate in found if estimate is not None]
        return max(known, key=lambda one: one[1].value) if known else None


def mean_over_seeds(values: Sequence[float]) -> Estimate | None:
    """Return the mean of repetitions with its 95 % interval by Student's t; None of none."""
    from scipy.stats import t

    if not values:
        return None
    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(value=mean, low=mean, high=mean)
    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return Estimate(value=mean, low=mean - half, high=mean + half)
