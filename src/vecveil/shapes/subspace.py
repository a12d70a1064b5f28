"""Leave out the directions in which the concept moves vectors most, and put noise on the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from vecveil.core.checks import at_least, fraction
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.affordable import affordable
from vecveil.shapes.corpus import WordedVectors
from vecveil.shapes.difference import effective_directions, principal_axes, second_moment
from vecveil.shapes.erasure import erasing, most_directions, required
from vecveil.shapes.learner import FittedShape
from vecveil.shapes.pairs import ContrastPairs

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
    reads_corpus: ClassVar[bool] = True

    def __post_init__(self) -> None:
        at_least(self.directions, 0, "directions")
        fraction(self.keep, "keep")

    def fit(
        self,
        pairs: ContrastPairs,
        rng: np.random.Generator,
        *,
        corpus: WordedVectors | None = None,
        progress: Progress = silent,
    ) -> FittedShape:
        """Return the shape, with how many directions are left out and how much of the concept's changes they hold."""
        del rng, progress
        known = required(corpus, pairs, "subspace")
        sizes, axes = principal_axes(second_moment(pairs))
        moved = int((sizes > LEAST_SIZE * sizes[0]).sum())
        most = min(moved, most_directions(pairs.dimensions))
        if self.directions > most:
            raise InvalidInputError(
                f"the concept moves vectors along {moved} directions of {pairs.dimensions}, of which at most {most} "
                f"can be left out, got directions {self.directions}"
            )
        count = self.directions or affordable(axes[:, :most], self.keep, known, pairs)
        facts = {
            "directions": float(count),
            "difference_left_out": float(sizes[:count].sum() / sizes.sum()),
            "effective_directions": effective_directions(sizes),
        }
        centre = np.asarray(known.vectors, dtype=np.float64).mean(axis=0)
        return FittedShape(shape=erasing(axes[:, :count], centre=centre), facts=facts)
