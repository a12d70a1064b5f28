"""The paper's neuron sensitivity Δ as a shape: noise in proportion to how far the concept moves each dimension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import fraction, one_of
from vecveil.core.errors import MissingExtraError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.learner import FittedShape
from vecveil.shapes.normalisation import Normalisation, variances_from_weights
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.shape import NoiseShape

Comparison = Literal["paired", "all"]


@dataclass(frozen=True, kw_only=True)
class NeuronSensitivity:
    """Weigh each dimension by Δ_i, the largest change of that dimension that the concept makes.

    Attributes:
        compare: `paired` takes each text against itself without the concept; `all` takes every text with it against
            every text without it, which is how the paper's formula reads when taken by the letter.
        normalise: How weights become variances.
        floor: Smallest variance (the paper's δ).
    """

    compare: Comparison = "paired"
    normalise: Normalisation = "trace"
    floor: float = 0.1

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {"compare": "all", "floor": 1e-6}}

    def __post_init__(self) -> None:
        one_of(self.compare, get_args(Comparison), "comparison")
        one_of(self.normalise, get_args(Normalisation), "normalisation")
        fraction(self.floor, "floor")

    def fit(self, pairs: ContrastPairs, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with the comparison of the most and the least sensitive tenth of the dimensions."""
        del progress
        sensitivity = neuron_sensitivity(pairs, compare=self.compare)
        variances = variances_from_weights(sensitivity, normalise=self.normalise, floor=self.floor)
        return FittedShape(shape=NoiseShape(variances=variances), facts=compare_tenths(pairs, rng, self.compare))


def neuron_sensitivity(pairs: ContrastPairs, *, compare: Comparison = "paired") -> Vector:
    """Return Δ_i for each dimension."""
    first = np.asarray(pairs.with_concept, dtype=np.float64)
    second = np.asarray(pairs.without_concept, dtype=np.float64)
    if compare == "paired":
        return np.asarray(np.abs(first - second).max(axis=0))
    # The largest |a - b| over all pairs of a and b is between one set's largest and the other's smallest.
    return np.asarray(np.maximum(first.max(axis=0) - second.min(axis=0), second.max(axis=0) - first.min(axis=0)))


def compare_tenths(pairs: ContrastPairs, rng: np.random.Generator, compare: Comparison) -> dict[str, float]:
    """Return the mean Δ of the top and bottom tenth of the dimensions, and what a Wilcoxon test says of them.

    The paper ranks and tests on the same pairs, which finds a difference in any data at all. So the test is also
    made with the ranking from one half of the pairs and Δ from the other.
    """
    try:
        from scipy.stats import wilcoxon
    except ImportError:
        raise MissingExtraError("scipy", "audit") from None

    def tested(ranking: Vector, sensitivity: Vector) -> tuple[float, float, float]:
        size = max(1, ranking.size // 10)
        order = np.argsort(ranking)
        top, bottom = sensitivity[order[-size:]], sensitivity[order[:size]]
        return float(top.mean()), float(bottom.mean()), float(wilcoxon(top, bottom).pvalue)

    whole = neuron_sensitivity(pairs, compare=compare)
    top, bottom, pvalue = tested(whole, whole)
    order = rng.permutation(len(pairs))
    halves = [
        neuron_sensitivity(ContrastPairs(pairs.with_concept[part], pairs.without_concept[part]), compare=compare)
        for part in np.array_split(order, 2)
        if part.size >= 2
    ]
    facts = {"top_tenth_mean": top, "bottom_tenth_mean": bottom, "wilcoxon_p": pvalue}
    if len(halves) == 2:
        held_top, held_bottom, held_pvalue = tested(*halves)
        facts |= {
            "held_out_top_tenth_mean": held_top,
            "held_out_bottom_tenth_mean": held_bottom,
            "held_out_wilcoxon_p": held_pvalue,
        }
    return facts
