"""Chance for some rows, one number for each: from their streams, or from a generator that they share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.late import loops
from vecveil.core.randomness import EVERY, Rows, RowStreams, Words, standard_normals

Refused = NDArray[np.intp]
Attempt = Callable[[Rows], tuple[Vector, Refused]]
"""Returns a number for each of some rows, and the places of those that may not be taken."""

Cost = Callable[[Vector], Vector]
"""Returns how much less likely each of some numbers shall be, as the logarithm of a share: zero or more."""

SPARE_BLOCKS = 4
"""Their normals are enough to try once for a number of the Gamma law."""

_NONE: Refused = np.empty(0, dtype=np.intp)


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

        def attempt(rows: Rows) -> tuple[Vector, Refused]:
            numbers = self._rng.standard_gamma(shape, self._rows if isinstance(rows, slice) else len(rows))
            return numbers, _not_above_zero(self._rng.standard_exponential(len(numbers)) - cost(numbers))

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
        """Return numbers of that law, by the method of Marsaglia and Tsang."""
        base = shape - 1 / 3

        def attempt(rows: Rows) -> tuple[Vector, Refused]:
            normals = self._spare_normals(rows)
            numbers, slack = np.empty(len(normals)), np.empty(len(normals))
            refused = loops().try_gammas(normals, base, numbers, slack)
            if cost is not None:
                refused = loops().take_off(slack, cost(numbers))
            return numbers, _not_above_zero(slack) if refused else _NONE

        return until_accepted(attempt)

    def _spare_normals(self, rows: Rows) -> Matrix:
        if self._normals is not None:
            normals, self._normals = self._normals, None
            return normals
        first = self._count(SPARE_BLOCKS, rows)
        return standard_normals(self._streams.words(first, SPARE_BLOCKS, rows), 0)[1]

    @cached_property
    def _next(self) -> Words:
        return np.full(len(self), self._first, dtype="<u8")

    def _count(self, blocks: int, rows: Rows) -> Words:
        # Each row counts for itself: how often another one had to try again is no business of its.
        first = self._next[rows].copy()
        self._next[rows] += np.uint64(blocks)
        return first


def until_accepted(attempt: Attempt) -> Vector:
    """Return a number for every row, from an attempt for all of them and others for those that were refused theirs."""
    numbers, missing = attempt(EVERY)
    while missing.size:
        numbers[missing], refused = attempt(missing)
        missing = missing[refused]
    return numbers


def _not_above_zero(slack: Vector) -> Refused:
    return np.flatnonzero(~(slack > 0))
