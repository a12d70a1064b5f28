"""What a veil promises at one budget, on one sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vecveil.accounting import Dials, EuclideanBounds, GuaranteeSheet, PairPromise
from vecveil.mechanisms import Mechanism

if TYPE_CHECKING:
    from vecveil.veil.veil import Veil

TYPICAL, UNUSUAL = 50, 95
"""Percentiles of the contrast pairs that the exact figures are for."""


def guarantee_sheet(veil: Veil, *, epsilon: float, grid: str, releases: int) -> GuaranteeSheet:
    """Return the promise with its distance, its assumptions, its dials and its exact figures."""
    mechanism = veil.mechanism_at(epsilon)
    promise = mechanism.guarantee().on_grid(str(veil.grid_at(epsilon, grid)))
    elliptical = type(mechanism).takes_shape
    return GuaranteeSheet(
        guarantee=promise.assuming(*_assumptions(veil)),
        dials=Dials(
            epsilon=mechanism.epsilon,
            distance=promise.metric,
            noise_ratio=mechanism.noise_ratio(veil.typical.signal),
            pair_loss=mechanism.epsilon * veil.typical.pair,
        ),
        euclidean=EuclideanBounds.of(epsilon=mechanism.epsilon, variances=veil.shape.variances) if elliptical else None,
        median_pair=veil.typical.euclidean_pair,
        typical=_pair(mechanism, veil.typical.pair, percentile=TYPICAL, releases=releases),
        unusual=_pair(mechanism, veil.typical.high_pair, percentile=UNUSUAL, releases=releases),
    )


def _pair(mechanism: Mechanism, distance: float | None, *, percentile: int, releases: int) -> PairPromise | None:
    if distance is None:
        return None
    return PairPromise.of(
        mechanism.profile(distance),
        percentile=percentile,
        distance=distance,
        worst_case=mechanism.epsilon * distance,
        releases=releases,
    )


def _assumptions(veil: Veil) -> tuple[str, ...]:
    learned = "the typical lengths that turn a noise ratio into an epsilon were"
    if veil.provenance.learner["name"] != "uniform":
        learned = "the shape, and the typical lengths that turn a noise ratio into an epsilon, were"
    source = "private texts; that is a release of its own, which the guarantee does not cover"
    if veil.provenance.public:
        source = "texts that their owner calls public; the guarantee needs that to be so"
    return (
        f"the vectors come from {veil.fingerprint.model} at revision {veil.fingerprint.revision}",
        f"{learned} learned on {veil.provenance.pairs:,} contrast pairs of {source}",
    )
