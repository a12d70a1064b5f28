"""Leave out the directions in which the concept moves vectors most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.checks import at_least, fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.difference import effective_directions, principal_axes, second_moment
from vecveil.shapes.erasure import corpus_center, count_affordable, erase, most_directions
from vecveil.shapes.evidence import ContrastPairs, Evidence
from vecveil.shapes.learner import FittedShape, ShapeLearner

LEAST_SIZE = 1e-12
"""Eigenvalues below this, over the largest, are rounding: there are no more directions than pairs, or dimensions."""


@dataclass(frozen=True, kw_only=True)
class Subspace(ShapeLearner):
    """Release nothing along the directions that hold most of what the concept changes, and noise on the rest.

    They are the first eigenvectors of C, the second moment of the differences between a text and itself without the
    concept: no other directions, as many, hold more of the mean squared length of a concept change.

    Attributes:
        directions: How many are left out; 0 takes as many as `keep` allows.
        keep: How good search must stay where `directions` is 0, over what it was: how near the texts that it finds
            are, apart from the concept (`vecveil.shapes.search_quality`).
    """

    directions: int = 0
    keep: float = 0.95

    def __post_init__(self) -> None:
        at_least(self.directions, 0, "directions")
        fraction(self.keep, "keep")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how many directions are left out and how much of the concept's changes they hold."""
        _, axes, facts = self.rank_directions(evidence, evidence.pairs)
        directions = axes[:, : int(facts["directions"])]
        return FittedShape(shape=erase(directions, center=corpus_center(evidence.corpus)), facts=facts)

    def rank_directions(self, evidence: Evidence, pairs: ContrastPairs) -> tuple[Vector, Matrix, dict[str, float]]:
        """Return the eigenvalues and eigenvectors of C, largest first, with how many of them are left out."""
        sizes, axes = evidence.remember(("differences", type(self)), lambda: principal_axes(second_moment(pairs)))
        moved = int((sizes > LEAST_SIZE * sizes[0]).sum())
        most = min(moved, most_directions(sizes.size))
        if self.directions > most:
            raise InvalidInputError(
                f"vectors differ along {moved} directions of {sizes.size}, of which at most {most} can be left out, "
                f"got directions {self.directions}"
            )
        count = self.directions or count_affordable(axes[:, :most], self.keep, evidence)
        facts = {
            "directions": float(count),
            "difference_left_out": float(sizes[:count].sum() / sizes.sum()),
            "effective_directions": effective_directions(sizes),
        }
        return sizes, axes, facts
