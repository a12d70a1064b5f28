"""Releases of the two inputs of a pair, and what an observer can measure of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import Mechanism
from vecveil.testing.selftest.pairs import Pair

CHUNK_NUMBERS = 1 << 21
"""Numbers of releases that are held at a time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Releases:
    """What is seen of many releases of one input.

    Attributes:
        near_first: Log density of each, were the first input released.
        near_second: The same for the second.
        along: Each release along the difference, from the second to the first.
    """

    near_first: Vector
    near_second: Vector
    along: Vector

    def turned(self) -> Releases:
        """Return the same with first and second swapped."""
        return Releases(near_first=self.near_second, near_second=self.near_first, along=-self.along)

    def halves(self) -> tuple[Releases, Releases]:
        """Return the half to choose with, and the half to count in."""
        half = len(self.along) // 2
        return self._part(slice(half)), self._part(slice(half, 2 * half))

    def statistics(self) -> Matrix:
        """Return one row per statistic; the larger a value, the more it should speak for the first input.

        The claimed likelihood ratio is the best there is for a mechanism that does what it claims. The others find
        those that don't: the plain difference, and what would be unlikely, or likely, of one input alone.
        """
        return np.stack([self.near_first - self.near_second, self.along, -self.near_second, self.near_first])

    def _part(self, rows: slice) -> Releases:
        return Releases(near_first=self.near_first[rows], near_second=self.near_second[rows], along=self.along[rows])


def release(mechanism: Mechanism, pair: Pair, original: Vector, *, samples: int, rng: np.random.Generator) -> Releases:
    """Release `original`, one of the pair, that many times."""
    rows = max(1, CHUNK_NUMBERS // original.size)
    sizes = (min(rows, samples - start) for start in range(0, samples, rows))
    # Looked at part by part, since the vectors of all would not fit.
    parts = [_seen(mechanism, pair, mechanism.perturb(np.tile(original, (size, 1)), rng)) for size in sizes]
    seen = np.concatenate(parts, axis=1)
    if not np.isfinite(seen).all():
        raise InvalidInputError("releases must be finite numbers, and so must be their log_density")
    near_first, near_second, along = seen
    return Releases(near_first=near_first, near_second=near_second, along=along)


def _seen(mechanism: Mechanism, pair: Pair, released: Embeddings) -> Matrix:
    direction = (pair.first - pair.second) / np.linalg.norm(pair.first - pair.second)
    originals = (np.tile(point, (len(released), 1)) for point in (pair.first, pair.second))
    near = (mechanism.log_density(released, original) for original in originals)
    return np.stack([*near, np.asarray(released @ direction, dtype=np.float64)])
