"""Free post-processing: what was left out of a release, as far as what was released tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector, frozen
from vecveil.core.checks import point, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.room import Room, new_room
from vecveil.shapes.apart import SEARCHED, apart_from_concept
from vecveil.shapes.corpus import WordedVectors
from vecveil.shapes.erasure import left_over
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.shape import NoiseShape

USUAL_NOISE = 0.3
"""Noise ratio for which a filling is made where no other is known; it serves others nearly as well."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Filling:
    """A public linear map that estimates unreleased coordinates from released ones.

    Texts have their coordinates in common with each other in the same ways, so what is released tells something of
    what is not: on average, not of the record. As a function of the release alone it costs no privacy, and attackers
    can apply it themselves. Search gains, since the gap is not the same in all texts.

    Attributes:
        reads: One column per estimate: its weights on a released vector, less the centre.
        writes: One row per estimate: the direction along which it is written.
        centre: The point that stands for an average text.
    """

    reads: Matrix
    writes: Matrix
    centre: Vector

    def __post_init__(self) -> None:
        for name in ("reads", "writes"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if self.reads.ndim != 2 or self.reads.shape != self.writes.shape[::-1]:
            raise InvalidInputError(
                f"a filling reads and writes the same numbers, got shapes {self.reads.shape} and {self.writes.shape}"
            )
        object.__setattr__(self, "centre", point(self.centre, self.reads.shape[0], "centre of the filling"))

    def __call__(self, released: Embeddings, *, room: Room = new_room) -> Matrix:
        """Return `released` with its gaps filled, in memory from `room`."""
        filled = np.matmul(released @ self.reads - self._usual, self.writes, out=room("filled", released.shape))
        filled += released
        return filled

    @cached_property
    def _usual(self) -> Vector:
        """What is read from an average text."""
        return np.asarray(self.centre @ self.reads)


def filling_for(shape: NoiseShape, vectors: Embeddings, *, noise: float = USUAL_NOISE) -> Filling | None:
    """Return the best linear filling for a corpus, or None where every axis is released.

    It is the Wiener filter, applied along the unreleased axes alone: along the released ones it would shrink what
    texts differ in least, which search needs as much as the rest.

    Args:
        shape: What is released.
        vectors: Clean vectors of the corpus.
        noise: Length of the noise over that of a vector.
    """
    positive(noise, "noise")
    unreleased = ~np.isfinite(shape.variances)
    if not unreleased.any():
        return None
    clean = np.asarray(vectors, dtype=np.float64)
    centre = clean.mean(axis=0) if shape.centre is None else np.asarray(shape.centre)
    axes = np.eye(shape.dimensions) if shape.axes is None else np.asarray(shape.axes)
    kept, gone = axes[:, ~unreleased], axes[:, unreleased]
    centred = clean - centre
    seen, hidden = centred @ kept, centred @ gone
    variances = shape.variances[~unreleased]
    level = noise**2 * float((clean**2).sum(axis=1).mean()) / float(variances.sum())
    spread = seen.T @ seen / len(clean) + level * np.diag(variances)
    weights = np.linalg.solve(spread, seen.T @ hidden / len(clean))
    return Filling(reads=kept @ weights, writes=gone.T, centre=centre)


def helpful_filling(shape: NoiseShape, corpus: WordedVectors, pairs: ContrastPairs) -> Filling | None:
    """Return the filling for a corpus where search in it, apart from the concept, is the better for it; else None."""
    filling = filling_for(shape, corpus.vectors)
    if filling is None:
        return None
    apart = apart_from_concept(corpus, pairs, most=SEARCHED)
    left = left_over(shape, apart.vectors)
    return filling if apart.quality(filling(left)) > apart.quality(left) else None
