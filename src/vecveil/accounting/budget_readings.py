"""Three readings of one budget, and the axis of the paper's tables."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vecveil.core.checks import not_negative, positive

NOISE_WARNING_RATIO = 10.0
"""Noise that is longer than this many embeddings leaves nothing to search in."""

TELLING_LOSS = 10.0
"""A worst-case loss of more nats than this lets the odds change by over 22,000: as a promise, it says nothing."""

PAPER_NOISE_RATIO = 15.0
"""Noise-to-signal ratio at epsilon 1 on the paper's axis.

Calibrated, not derived: read literally, the paper's noise at epsilon 10 and 768 dimensions is 77 times longer than
the embedding, and nothing survives that. Its STS12 utilities are matched by noise of about 15/epsilon times the
length of the embedding.
"""


@dataclass(frozen=True, kw_only=True)
class BudgetReadings:
    """The three linked readings of one budget.

    Attributes:
        epsilon: Privacy loss per unit of `distance`, in nats.
        distance: Short name of the distance.
        noise_ratio: Typical length of the noise divided by the typical length of an embedding.
        pair_loss: Worst-case privacy loss, in nats, of the median contrast pair: epsilon times its distance.
    """

    epsilon: float
    distance: str
    noise_ratio: float
    pair_loss: float

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        not_negative(self.pair_loss, "pair_loss")

    @property
    def vacuous(self) -> bool:
        """Whether the worst-case loss of a median pair is too large to promise anything by itself."""
        return self.pair_loss > TELLING_LOSS

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the budget does to search, where hardly any survives it."""
        return (noise_warning(self.noise_ratio),) if self.noise_ratio > NOISE_WARNING_RATIO else ()

    def __str__(self) -> str:
        odds = f"a factor of {math.exp(self.pair_loss):,.4g}" if not self.vacuous else f"e^{self.pair_loss:.0f}"
        return (
            f"epsilon:               {self.epsilon:.6g} nats per unit of {self.distance}\n"
            f"noise-to-signal ratio: {self.noise_ratio:.3g} (length of the noise / length of an embedding)\n"
            f"median contrast pair:  a worst-case loss of {self.pair_loss:.4g} nats (odds change by at most {odds})"
        )


def noise_warning(noise_ratio: float) -> str:
    """Return what to say of noise that is far longer than an embedding."""
    length = f"the noise is {noise_ratio:.3g} times as long as an embedding"
    return f"{length}; do not expect a search to survive this (an epsilon of the paper's tables is a paper_epsilon)"


def paper_noise_ratio(epsilon: float) -> float:
    """Return the noise-to-signal ratio that `epsilon` stands for on the axis of the paper's tables."""
    return PAPER_NOISE_RATIO / positive(epsilon, "epsilon")
