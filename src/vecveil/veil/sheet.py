"""The guarantee sheet of a veil at one budget."""

from __future__ import annotations

import math
from collections.abc import Mapping

from vecveil.accounting import (
    BudgetReadings,
    EuclideanBounds,
    GuaranteeSheet,
    MeasuredGuess,
    PairPromise,
    WordPromise,
)
from vecveil.embedders import Fingerprint
from vecveil.mechanisms import Mechanism
from vecveil.shapes import NoiseShape
from vecveil.substitutions import Substitution
from vecveil.substitutions.plain import Keep
from vecveil.substitutions.randomize import Randomize
from vecveil.veil.budget import TypicalLengths
from vecveil.veil.provenance import Provenance

TYPICAL, UNUSUAL = 50, 95
"""Percentiles of the contrast pairs that the exact figures are for."""

RECALL, ANNOTATED = "concept_recall", "annotated_spans"
"""Facts of a veil that was learned on annotated texts: what share of the annotated spans its concept finds."""

GUESS_FACTS = tuple(f"best_guess_{part}" for part in ("right", "low", "high", "chance", "texts", "epsilon"))
"""Facts of a veil in which someone tried to fill in blanks, and at which epsilon that was."""


def make_sheet(
    mechanism: Mechanism,
    *,
    shape: NoiseShape,
    typical: TypicalLengths,
    provenance: Provenance,
    model: Fingerprint,
    grid: str,
    rounding: float,
    releases: int,
    substitution: Substitution,
) -> GuaranteeSheet:
    """Return the promise with its distance, its assumptions, its readings and its exact figures."""

    def pair(distance: float, percentile: int) -> PairPromise:
        return PairPromise.from_profile(
            mechanism.profile(distance),
            percentile=percentile,
            distance=distance,
            worst_case=mechanism.epsilon * distance,
            releases=releases,
            missed=not isinstance(substitution, Keep),
        )

    promise = mechanism.guarantee().on_grid(grid)
    bounds = EuclideanBounds.from_variances(epsilon=mechanism.epsilon, variances=shape.variances)
    return GuaranteeSheet(
        guarantee=promise.assuming(*_assumptions(provenance, model, rounding, substitution)),
        readings=BudgetReadings(
            epsilon=mechanism.epsilon,
            distance=promise.metric,
            noise_ratio=mechanism.noise_ratio(typical.signal),
            pair_loss=mechanism.epsilon * typical.pair,
        ),
        euclidean=bounds if type(mechanism).takes_shape else None,
        median_pair=typical.euclidean_pair,
        typical=pair(typical.pair, TYPICAL),
        unusual=pair(typical.high_pair, UNUSUAL),
        words=promise_words(substitution),
        measured=provenance.measured,
        finds=_describe_recall(provenance.facts),
        guess=_measured_guess(provenance.facts, mechanism.epsilon) if releases == 1 else None,
    )


def _describe_recall(facts: Mapping[str, float]) -> str:
    if not {RECALL, ANNOTATED} <= {*facts}:
        return "not measured"
    return f"recall {facts[RECALL]:.2f} on {facts[ANNOTATED]:,.0f} annotated spans, measured"


def _measured_guess(facts: Mapping[str, float], epsilon: float) -> MeasuredGuess | None:
    """Return what filling in blanks came to at this budget; None where nobody has measured that."""
    known = [facts[name] for name in GUESS_FACTS if name in facts]
    if len(known) < len(GUESS_FACTS) or not math.isclose(known.pop(), epsilon):
        return None
    right, low, high, chance, texts = known
    return MeasuredGuess(right=right, low=low, high=high, chance=chance, texts=int(texts))


def promise_words(substitution: Substitution) -> WordPromise | None:
    """Return what is promised of words that are replaced; None where they stay."""
    if isinstance(substitution, Keep):
        return None
    candidates = substitution.candidates if isinstance(substitution, Randomize) else {}
    fewest = min(map(len, candidates.values()), default=None)
    return WordPromise(substitution=substitution.name, epsilon=substitution.word_epsilon, candidates=fewest)


def describe_learning(provenance: Provenance, substitution: Substitution) -> str:
    """Return what a veil tells of the texts that it was learned on: what is bounded, and what is not."""
    if provenance.public:
        return "nothing that is private, as its owner says"
    bounded = [f"its {part}: {loss}" for part, loss in provenance.bounds().items()]
    others = "lengths and counts" if "axes" in provenance.losses else "axes, lengths and counts"
    if provenance.learner["name"] == "uniform":
        others = "lengths and counts"
    if substitution.taken:
        others = f"candidates for {', '.join(substitution.taken)} (values of the texts), {others}"
    return "; ".join([*bounded, f"what its {others} tell is measured, not bounded"])


def _assumptions(
    provenance: Provenance, model: Fingerprint, rounding: float, substitution: Substitution
) -> tuple[str, ...]:
    learned = "the typical lengths that turn a noise ratio into an epsilon were"
    if provenance.learner["name"] != "uniform":
        learned = "the shape, and the typical lengths that turn a noise ratio into an epsilon, were"
    source = f"private texts, which is a release of its own: {describe_learning(provenance, substitution)}"
    if provenance.public:
        source = "texts that their owner calls public; the guarantee needs that to be so"
    return (
        f"the distance is that of vectors rounded to {rounding:g}, which is done before they get noise",
        f"the vectors come from {model.model} at revision {model.revision}",
        f"{learned} learned on {provenance.pairs:,} contrast pairs of {source}",
    )
