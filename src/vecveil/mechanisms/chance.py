"""Chance for some rows, one number for each: from their streams, or from a generator that they share."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.randomness import EVERY, Rows, RowStreams, Words, standard_normals

Accepted = NDArray[np.bool_]
Attempt = Callable[[Rows], tuple[Vector, Accepted]]
"""Returns a number for each of some rows, and whether it may be taken."""

Cost = Callable[[Vector], Vector]
"""Returns how much less likely each of some numbers shall be, as the logarithm of a share: zero or more."""

SPARE_BLOCKS = 2
"""Of each part of a row's words: their normals are enough to try once for a number of the Gamma law."""

_TINY = 1e-90
"""A cube root that is as good as zero, and whose cube is still a number."""


class Chance(Protocol):
    """Gives numbers to rows."""

    def __len__(self) -> int:
        """Return how many rows there are."""
        ...

    def gammas(self, shape: float, cost: Cost | None = None) -> Vector:
        """Return a number for every row, of the Gamma law with that shape, at least 1, and a scale of 1.

        Args:
            shape: Power of the law.
            cost: Makes numbers less likely: their density is that of the law times exp(-cost).
        """
        ...


class GeneratorChance:
    """Chance from one generator of NumPy's, which can be repeated: for tests and experiments."""

    def __init__(self, rng: np.random.Generator, rows: int) -> None:
        self._rng, self._rows = rng, rows

    def __len__(self) -> int:
        return self._rows

    def gammas(self, shape: float, cost: Cost | None = None) -> Vector:
        """Return the generator's next numbers of that law."""
        if cost is None:
            return self._rng.standard_gamma(shape, self._rows)

        def attempt(rows: Rows) -> tuple[Vector, Accepted]:
            numbers = self._rng.standard_gamma(shape, self._rows if isinstance(rows, slice) else len(rows))
            return numbers, self._rng.standard_exponential(len(numbers)) > cost(numbers)

        return until_accepted(attempt)


class StreamChance:
    """Chance from streams: what a row gets depends on its stream and on what it was given before, on nothing else."""

    def __init__(self, streams: RowStreams, *, first: int, normals: Matrix | None = None) -> None:
        """Take numbers from `streams`, from block `first` on.

        Args:
            streams: A stream for each row.
            first: The first block that was not used for something else.
            normals: Three or more standard normals for each row, which are used up first.
        """
        self._streams, self._first, self._normals = streams, first, normals

    def __len__(self) -> int:
        return len(self._streams)

    def gammas(self, shape: float, cost: Cost | None = None) -> Vector:
        """Return numbers of that law, by the method of Marsaglia and Tsang.

        The cube of a normal is nearly a number of the Gamma law. It is taken as often as the law says, which is nearly
        always, and as its cost does.
        """
        base = shape - 1 / 3
        slope = 1 / (3 * math.sqrt(base))

        def attempt(rows: Rows) -> tuple[Vector, Accepted]:
            normals = self._spare_normals(rows)
            roots = slope * normals[:, 0]
            roots += 1
            # What is not above zero is never taken: for a root this small, far more would be needed than there can be.
            np.maximum(roots, _TINY, out=roots)
            cubes = roots * roots * roots
            needed = np.log(roots)
            needed *= -3
            needed += cubes
            needed -= 1
            needed *= 2 * base
            cubes *= base
            if cost is not None:
                needed += 2 * cost(cubes)
            # The squares of two normals make the logarithm of a uniform number.
            three = normals[:, :3]
            return cubes, np.vecdot(three, three) > needed

        return until_accepted(attempt)

    def _spare_normals(self, rows: Rows) -> Matrix:
        if self._normals is not None:
            normals, self._normals = self._normals, None
            return normals
        first = self._count(2 * SPARE_BLOCKS, rows)
        return standard_normals(self._streams.parts(2, SPARE_BLOCKS, first=first, rows=rows), 0)[1]

    @cached_property
    def _next(self) -> Words:
        return np.full(len(self), self._first, dtype="<u8")

    def _count(self, blocks: int, rows: Rows) -> Words:
        # Each row counts for itself: how often another one had to try again is no business of its.
        first = self._next[rows].copy()
        self._next[rows] += np.uint64(blocks)
        return first


def until_accepted(attempt: Attempt) -> Vector:
    """Return a number for every row, from an attempt for all of them and others for those that had none accepted."""
    numbers, accepted = attempt(EVERY)
    (missing,) = np.nonzero(~accepted)
    while missing.size:
        numbers[missing], accepted = attempt(missing)
        missing = missing[~accepted]
    return numbers
