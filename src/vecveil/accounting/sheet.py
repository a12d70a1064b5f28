"""Everything that is promised for one veil at one budget, on one page."""

from __future__ import annotations

from dataclasses import dataclass

from vecveil.accounting.dials import Dials
from vecveil.accounting.euclidean import EuclideanBounds
from vecveil.accounting.guarantee import Guarantee
from vecveil.accounting.pair_promise import PairPromise

TELLING_SUCCESS = 0.99
"""A best guess that is right more often than this leaves nothing to promise."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeSheet:
    """A guarantee with its dials, its Euclidean bounds where it has some, exact promises, and warnings in words.

    Attributes:
        guarantee: The promise.
        dials: The three readings of the budget.
        euclidean: Lemmas 1 and 2 as numbers; None where the noise is not elliptical.
        median_pair: Euclidean length of the median contrast pair.
        typical: The exact promise for the median contrast pair, where it is known.
        unusual: The exact promise for the pair that only one text in twenty exceeds, where it is known.
    """

    guarantee: Guarantee
    dials: Dials
    euclidean: EuclideanBounds | None
    median_pair: float
    typical: PairPromise | None = None
    unusual: PairPromise | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must not take from the numbers."""
        found = []
        if self.dials.vacuous:
            found.append(
                f"the worst-case bound is vacuous at this budget: e^{self.dials.pair_loss:.0f} bounds nothing for a "
                f"median contrast pair. {_what_is_left(self.typical)}"
            )
        if self.euclidean is not None and self.euclidean.smallest < self.euclidean.largest:
            upper = self.euclidean.upper * self.median_pair
            if upper > 10 * self.dials.pair_loss:
                found.append(
                    f"the Euclidean upper bound is vacuous: an axis with the smallest eigenvalue "
                    f"({self.euclidean.smallest:.3g}) is released almost in clear, and a change of median length "
                    f"along it loses up to {upper:.4g} nats"
                )
        if self.dials.noise_ratio > 10:
            found.append(
                f"the noise is {self.dials.noise_ratio:.3g} times as long as the embedding; do not expect a search to "
                "survive this"
            )
        return tuple(found)

    def __str__(self) -> str:
        parts = [str(self.guarantee), "", "The budget, on three dials:", _indented(str(self.dials))]
        promises = [promise for promise in (self.typical, self.unusual) if promise is not None]
        if promises:
            heading = (
                "Exactly, for a text with the private words and the same text without them, as far apart as they were"
            )
            parts += ["", f"{heading} where the veil was learned:"]
            parts += [_indented(str(promise)) for promise in promises]
        if self.euclidean is not None:
            parts += ["", "In Euclidean distance (Lemmas 1 and 2):", _indented(str(self.euclidean))]
        parts += ["", *(f"Warning: {warning}." for warning in self.warnings)] if self.warnings else []
        return "\n".join(parts)


def _what_is_left(typical: PairPromise | None) -> str:
    if typical is None:
        return "What protects here is measured by attacks, not promised by the theorem"
    after = "" if typical.releases == 1 else f" after {typical.releases} releases"
    exact = f"Exactly, that pair has {typical.numbers}{after}, and the best guess is right {typical.odds}"
    if typical.success > TELLING_SUCCESS:
        return f"{exact}: no promise either. What protects here is measured by attacks, not promised by the theorem"
    return f"{exact}: read that instead"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
