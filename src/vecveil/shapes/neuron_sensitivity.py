"""The paper's neuron sensitivity Δ as a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import fraction, one_of, positive
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.core.progress import Progress, silent
from vecveil.shapes.evidence import ContrastPairs, Evidence
from vecveil.shapes.learner import FittedShape, ShapeLearner
from vecveil.shapes.shape import NoiseShape, Normalization, variances_from_weights

Comparison = Literal["paired", "all"]


@dataclass(frozen=True, kw_only=True)
class NeuronSensitivity(ShapeLearner):
    """Weigh each dimension by Δ_i, the largest change of that dimension that the concept makes.

    Attributes:
        quantile: Which of the changes of a dimension counts. The paper takes the largest (1.0), which publishes, for
            each dimension, the exact value of the record that stands out most; a lower one says as much of the concept.
        compare: `paired` takes each text against itself without the concept; `all` takes every text with it against
            every text without it, which is how the paper's formula reads when taken by the letter.
        normalize: How weights become variances.
        floor: Smallest variance (the paper's δ).
    """

    quantile: float = 0.95
    compare: Comparison = "paired"
    normalize: Normalization = "trace"
    floor: float = 0.1

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": {"quantile": 1.0, "compare": "all", "floor": 1e-6}}

    def __post_init__(self) -> None:
        if not 0 < positive(self.quantile, "quantile") <= 1:
            raise InvalidInputError(f"quantile must be above 0 and at most 1, got {self.quantile!r}")
        one_of(self.compare, get_args(Comparison), "comparison")
        if self.compare == "all" and self.quantile != 1:
            raise InvalidInputError(f"quantile must be 1 where compare is 'all', got {self.quantile!r}")
        one_of(self.normalize, get_args(Normalization), "normalization")
        fraction(self.floor, "floor")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with the comparison of the most and the least sensitive tenth of the dimensions."""
        pairs = evidence.pairs
        sensitivity = self._sensitivity(pairs)
        variances = variances_from_weights(sensitivity, normalize=self.normalize, floor=self.floor)
        return FittedShape(
            shape=NoiseShape(variances=variances), facts=compare_tenths(pairs, rng, sensitivity=self._sensitivity)
        )

    def _sensitivity(self, pairs: ContrastPairs) -> Vector:
        return neuron_sensitivity(pairs, compare=self.compare, quantile=self.quantile)


def neuron_sensitivity(pairs: ContrastPairs, *, compare: Comparison = "paired", quantile: float = 1.0) -> Vector:
    """Return Δ_i for each dimension."""
    first = np.asarray(pairs.with_concept, dtype=np.float64)
    second = np.asarray(pairs.without_concept, dtype=np.float64)
    if compare == "paired":
        return np.asarray(np.quantile(np.abs(first - second), quantile, axis=0))
    # The largest |a - b| over all pairs of a and b is between one set's largest and the other's smallest.
    return np.asarray(np.maximum(first.max(axis=0) - second.min(axis=0), second.max(axis=0) - first.min(axis=0)))


def compare_tenths(
    pairs: ContrastPairs, rng: np.random.Generator, *, sensitivity: Callable[[ContrastPairs], Vector]
) -> dict[str, float]:
    """Return the mean Δ of the top and bottom tenth of the dimensions, and what a Wilcoxon test says of them.

    The paper ranks and tests on the same pairs, which finds a difference in any data at all. So the test is also
    made with the ranking from one half of the pairs and Δ from the other. Dimensions are correlated, so that either
    p-value describes and proves nothing.
    """
    with needs_extra("scipy", "audit"):
        from scipy.stats import wilcoxon

    def compare(ranking: Vector, values: Vector) -> tuple[float, float, float]:
        size = max(1, ranking.size // 10)
        order = np.argsort(ranking)
        top, bottom = values[order[-size:]], values[order[:size]]
        # Two digits: with more, and the variances, every Δ could be had exactly.
        return float(f"{top.mean():.2g}"), float(f"{bottom.mean():.2g}"), float(wilcoxon(top, bottom).pvalue)

    whole = sensitivity(pairs)
    top, bottom, pvalue = compare(whole, whole)
    facts = {"top_tenth_mean": top, "bottom_tenth_mean": bottom, "wilcoxon_p": pvalue}
    parts = np.array_split(rng.permutation(len(pairs)), 2)
    if min(part.size for part in parts) >= 2:
        halves = [sensitivity(ContrastPairs(pairs.with_concept[part], pairs.without_concept[part])) for part in parts]
        top, bottom, pvalue = compare(*halves)
        facts |= {
            "held_out_top_tenth_mean": top,
            "held_out_bottom_tenth_mean": bottom,
            "held_out_wilcoxon_p": pvalue,
        }
    return facts
