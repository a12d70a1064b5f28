"""One budget, three dials: what is promised, what it does to a vector, what it means for a typical pair."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vecveil.core.checks import not_negative, positive

TELLING_LOSS = 10.0
"""A worst-case loss of more nats than this lets the odds change by over 22,000: as a promise, it says nothing."""


@dataclass(frozen=True, kw_only=True)
class Dials:
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

    def __str__(self) -> str:
        odds = f"a factor of {math.exp(self.pair_loss):,.4g}" if not self.vacuous else f"e^{self.pair_loss:.0f}"
        return (
            f"epsilon:               {self.epsilon:.6g} nats per unit of {self.distance}\n"
            f"noise-to-signal ratio: {self.noise_ratio:.3g} (length of the noise / length of an embedding)\n"
            f"median contrast pair:  a worst-case loss of {self.pair_loss:.4g} nats (odds change by at most {odds})"
        )
