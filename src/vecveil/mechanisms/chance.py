"""Chance for some rows, one number for each: from their streams, or from a generator that they share."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Vector
from vecveil.core.randomness import RowStreams, Words, between_one_and_two, standard_normals

Rows = NDArray[np.intp]


class Chance(Protocol):
    """Gives numbers to rows. Methods that try until a number will do ask again for the rows that have none."""

    def __len__(self) -> int:
        """Return how many rows there are."""
        ...

    def uniforms(self, rows: Rows) -> Vector:
        """Return the next number of each of these rows, from 0 to 1, 1 left out."""
        ...

    def gammas(self, shape: float) -> Vector:
        """Return a number of the Gamma law with that shape, at least 1, and a scale of 1 for every row."""
        ...


class GeneratorChance:
    """Chance from one generator of NumPy's, which can be repeated: for tests and experiments."""

    def __init__(self, rng: np.random.Generator, rows: int) -> None:
        self._rng, self._rows = rng, rows

    def __len__(self) -> int:
        return self._rows

    def uniforms(self, rows: Rows) -> Vector:
        """Return the generator's next numbers."""
        return self._rng.random(len(rows))

    def gammas(self, shape: float) -> Vector:
        """Return the generator's next numbers of the Gamma law."""
        return self._rng.standard_gamma(shape, self._rows)


class StreamChance:
    """Chance from streams: what a row gets depends on its stream and on what it was given before, on nothing else."""

    def __init__(self, streams: RowStreams, *, first: int) -> None:
        """Take numbers from `streams`, from block `first` on."""
        self._streams, self._next = streams, np.full(len(streams), first, dtype="<u8")

    def __len__(self) -> int:
        return len(self._streams)

    def uniforms(self, rows: Rows) -> Vector:
        """Return the next number of each of these rows."""
        return np.asarray(between_one_and_two(self._words(1, rows))[:, 0] - 1.0)

    def gammas(self, shape: float) -> Vector:
        """Return numbers of the Gamma law, by the method of Marsaglia and Tsang.

        The cube of a normal is nearly such a number. It is taken as often as the law says, which is nearly always.
        """
        base = shape - 1 / 3
        slope = 1 / (3 * math.sqrt(base))
        cubes = np.empty(len(self))
        missing = np.arange(len(self))
        while missing.size:
            words = self._words(2, missing)
            normals = standard_normals(words[:, :2])[:, 0]
            drafts = 1 + slope * normals
            drafts *= drafts * drafts
            # Of numbers above 0: a logarithm is taken.
            chances = 2.0 - between_one_and_two(words[:, 2])
            with np.errstate(divide="ignore", invalid="ignore"):
                accepted = np.log(chances) < 0.5 * normals * normals + base * (1 - drafts + np.log(drafts))
            accepted &= drafts > 0
            cubes[missing[accepted]] = drafts[accepted]
            missing = missing[~accepted]
        return base * cubes

    def _words(self, blocks: int, rows: Rows) -> Words:
        # Each row counts for itself: how often another one had to try again is no business of its.
        first = self._next[rows]
        self._next[rows] += np.uint64(blocks)
        return self._streams.words(first, blocks, rows)
