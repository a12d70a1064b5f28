"""The guarantee sheet: everything that a veil promises at one budget."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from vecveil.accounting.budget_readings import BudgetReadings
from vecveil.accounting.guarantee import EuclideanBounds, Guarantee
from vecveil.accounting.pair_promise import MeasuredGuess, PairPromise, WordPromise

TELLING_SUCCESS = 0.99
"""A best guess that is right more often than this leaves nothing to promise."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeSheet:
    """A guarantee with the readings of its budget, Euclidean bounds, exact promises and warnings.

    Attributes:
        guarantee: The promise.
        readings: The three readings of the budget.
        euclidean: Lemmas 1 and 2 as numbers; None where the noise is not elliptical.
        median_pair: Euclidean length of the median contrast pair.
        typical: The exact promise for the median contrast pair, where it is known.
        unusual: The exact promise for the pair that only one text in twenty exceeds, where it is known.
        words: What is promised of words that are replaced before the model reads them; None where they stay.
        measured: What the whole was measured to come to, in a sentence; empty where nobody has.
        finds: What share of annotated spans the concept finds, in words.
        guess: How often the best guess of a private value was right; None where nobody has measured it.
    """

    guarantee: Guarantee
    readings: BudgetReadings
    euclidean: EuclideanBounds | None
    median_pair: float
    typical: PairPromise | None = None
    unusual: PairPromise | None = None
    words: WordPromise | None = None
    measured: str = ""
    finds: str = "not measured"
    guess: MeasuredGuess | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must not take from the numbers."""
        found = []
        if self.readings.vacuous:
            whom = "" if self.words is None else "for words that the concept misses, "
            found.append(
                f"{whom}the worst-case bound is vacuous at this budget: e^{self.readings.pair_loss:.0f} bounds nothing "
                f"for a median contrast pair. {_what_is_left(self.typical)}"
            )
        if self.euclidean is not None and self.euclidean.smallest < self.euclidean.largest:
            upper = self.euclidean.upper * self.median_pair
            if upper > 10 * self.readings.pair_loss:
                found.append(
                    f"the Euclidean upper bound is vacuous: an axis with the smallest eigenvalue "
                    f"({self.euclidean.smallest:.3g}) is released almost in clear, and a change of median length "
                    f"along it loses up to {upper:.4g} nats"
                )
            elif self.euclidean.quiet:
                found.append(quiet_warning(self.euclidean))
        return (*found, *self.readings.warnings)

    @property
    def body(self) -> str:
        """The sheet without its warnings."""
        parts = []
        if self.words is not None:
            parts += [
                "Words that the concept finds in a text:",
                _indent(f"{self.words}\nwhat the concept finds: {self.finds}"),
                "",
                "Words that it misses, and all else:",
            ]
        parts += [str(self.guarantee), "", "The budget, in three readings:", _indent(str(self.readings))]
        promises = [promise for promise in (self.typical, self.unusual) if promise is not None]
        if promises:
            whom = "the private words" if self.words is None else "words that the concept misses"
            heading = f"Exactly, for a text with {whom} and the same text without them, as far apart as such texts were"
            parts += ["", f"{heading} where the veil was learned:"]
            parts += [_indent(str(promise)) for promise in promises]
        if self.euclidean is not None:
            parts += ["", "In Euclidean distance (Lemmas 1 and 2):", _indent(str(self.euclidean))]
        if self.guess is not None:
            parts += ["", f"Best guess of a private value, measured: {self.guess}"]
        if self.measured:
            parts += ["", f"Measured where it was learned: {self.measured}"]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        warnings = "\n".join(f"Warning: {warning}." for warning in self.warnings)
        return f"{self.body}\n\n{warnings}" if warnings else self.body


def quiet_warning(bounds: EuclideanBounds) -> str:
    """Return what to say of axes that get next to no noise."""
    released = bounds.dimensions - bounds.unreleased
    return (
        f"{bounds.quiet:,} of {released:,} released axes get less than a hundredth of what even noise would give them: "
        "they are released almost in clear"
    )


def _what_is_left(typical: PairPromise | None) -> str:
    if typical is None:
        return "What protects here is measured by attacks, not promised by the theorem"
    after = "" if typical.releases == 1 else f" after {typical.releases} releases"
    exact = f"Exactly, that pair has {typical.numbers}{after}, and the best guess is right {typical.odds}"
    if typical.success > TELLING_SUCCESS:
        return f"{exact}: no promise either. What protects here is measured by attacks, not promised by the theorem"
    return f"{exact}: read that instead"


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
