"""Leave out the directions in which the concept moves vectors most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vecveil.core.checks import at_least, fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.difference import effective_directions, principal_axes, second_moment
from vecveil.shapes.erasure import corpus_center, count_affordable, erase, most_directions
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.learner import FittedShape

LEAST_SIZE = 1e-12
"""Eigenvalues below this, over the largest, are rounding: there are no more directions than pairs, or dimensions."""


@dataclass(frozen=True, kw_only=True)
class Subspace:
    """Release nothing along the directions that hold most of what the concept changes, and noise on the rest.

    They are the first eigenvectors of C, the second moment of the differences between a text and itself without the
    concept: no other directions, as many, hold more of the mean squared length of a concept change.

    Attributes:
        directions: How many are left out; 0 takes as many as `keep` allows.
        keep: How good search must stay where `directions` is 0, over what it was: how near the texts that it finds
            are, apart from the concept (`vecveil.core.search_quality`).
    """

    directions: int = 0
    keep: float = 0.95

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __post_init__(self) -> None:
        at_least(self.directions, 0, "directions")
        fraction(self.keep, "keep")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how many directions are left out and how much of the concept's changes they hold."""
        del rng, progress
        dimensions = evidence.pairs.dimensions
        sizes, axes = principal_axes(second_moment(evidence.pairs))
        moved = int((sizes > LEAST_SIZE * sizes[0]).sum())
        most = min(moved, most_directions(dimensions))
        if self.directions > most:
            raise InvalidInputError(
                f"the concept moves vectors along {moved} directions of {dimensions}, of which at most {most} "
                f"can be left out, got directions {self.directions}"
            )
        count = self.directions or count_affordable(axes[:, :most], self.keep, evidence)
        facts = {
            "directions": float(count),
            "difference_left_out": float(sizes[:count].sum() / sizes.sum()),
            "effective_directions": effective_directions(sizes),
        }
        return FittedShape(shape=erase(axes[:, :count], center=corpus_center(evidence.corpus)), facts=facts)
