"""Leave out the directions in which one private value differs from another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.core.checks import fraction
from vecveil.core.progress import Progress, silent
from vecveil.shapes.erasure import corpus_center
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.learner import FittedShape
from vecveil.shapes.shape import NoiseShape, variances_from_weights
from vecveil.shapes.subspace import Subspace


@dataclass(frozen=True, kw_only=True)
class Swap(Subspace):
    """Release nothing along the directions in which swapped values differ most, and noise that follows them elsewhere.

    For vectors that come without their texts, and someone who has the text but for one private value: what tells the
    candidates apart is C, the second moment of the differences between a text and itself with other values of the
    corpus in place of its own. Its first eigenvectors are left out; along the others Σ ∝ C^½, the shape whose noise
    hides differences of that kind best for its length.

    Attributes:
        directions: How many are left out; 0 takes as many as `keep` allows.
        keep: How good search must stay where `directions` is 0, over what it was: how near the texts that it finds
            are, apart from the concept (`vecveil.shapes.search_quality`).
        floor: Smallest variance, over the mean of those that are released.
    """

    floor: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        fraction(self.floor, "floor")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how many directions are left out and how much of the differences they hold."""
        sizes, axes, facts = self.rank_directions(evidence, evidence.swaps)
        rest = slice(int(facts["directions"]), None)
        variances = np.full(sizes.size, np.inf)
        variances[rest] = variances_from_weights(np.sqrt(sizes[rest]), normalize="trace", floor=self.floor)
        shape = NoiseShape(variances=variances, axes=axes, center=corpus_center(evidence.corpus))
        return FittedShape(shape=shape, facts=facts)
