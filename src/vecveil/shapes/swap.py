"""Leave out the directions in which one private value differs from another in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vecveil.core.checks import at_least, fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.difference import effective_directions, principal_axes, second_moment
from vecveil.shapes.erasure import corpus_center, count_affordable, most_directions
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.learner import FittedShape
from vecveil.shapes.shape import NoiseShape
from vecveil.shapes.variances import variances_from_weights

LEAST_SIZE = 1e-12
"""Eigenvalues below this, over the largest, are rounding."""


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Release nothing along the directions in which swapped values differ most, and noise that follows them elsewhere.

    For vectors that come without their texts, and someone who has the text but for one private value: what tells the
    candidates apart is C, the second moment of the differences between a text and itself with other values of the
    corpus in place of its own. Its first eigenvectors are left out; along the others Σ ∝ C^½, the shape whose noise
    hides differences of that kind best for its length.

    Attributes:
        directions: How many are left out; 0 takes as many as `keep` allows.
        keep: How good search must stay where `directions` is 0, over what it was: how near the texts that it finds
            are, apart from the concept (`vecveil.core.search_quality`).
        floor: Smallest variance, over the mean of those that are released.
    """

    directions: int = 0
    keep: float = 0.95
    floor: float = 0.1

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __post_init__(self) -> None:
        at_least(self.directions, 0, "directions")
        fraction(self.keep, "keep")
        fraction(self.floor, "floor")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how many directions are left out and how much of the differences they hold."""
        del rng, progress
        sizes, axes = evidence.remember("swap", lambda: principal_axes(second_moment(evidence.swaps)))
        moved = int((sizes > LEAST_SIZE * sizes[0]).sum())
        most = min(moved, most_directions(evidence.pairs.dimensions))
        if self.directions > most:
            raise InvalidInputError(
                f"swaps move vectors along {moved} directions of {evidence.pairs.dimensions}, of which at most {most} "
                f"can be left out, got directions {self.directions}"
            )
        count = self.directions or count_affordable(axes[:, :most], self.keep, evidence)
        variances = np.full(sizes.size, np.inf)
        variances[count:] = variances_from_weights(np.sqrt(sizes[count:]), normalize="trace", floor=self.floor)
        facts = {
            "directions": float(count),
            "difference_left_out": float(sizes[:count].sum() / sizes.sum()),
            "effective_directions": effective_directions(sizes),
        }
        shape = NoiseShape(variances=variances, axes=axes, center=corpus_center(evidence.corpus))
        return FittedShape(shape=shape, facts=facts)
