"""What a release needs from chance: standard normals and one amount for each row, fresh or from keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.randomness import keyed_generators


class Drawing(Protocol):
    """The part of a mechanism that says what to draw."""

    @property
    def width(self) -> int:
        """Number of standard normals of each row."""
        ...

    def amounts(self, rows: int, rng: np.random.Generator) -> Vector:
        """Return how far each row is moved: a radius or an angle."""
        ...


@dataclass(frozen=True, eq=False)
class Draws:
    """The random numbers of some rows. Whoever releases with them uses them up: they are overwritten.

    Attributes:
        normals: Independent standard normals, for a direction.
        amounts: How far each row is moved along it.
    """

    normals: Matrix
    amounts: Vector


def fresh_draws(mechanism: Drawing, rows: int, rng: np.random.Generator) -> Draws:
    """Return the numbers for `rows` rows, all from one generator."""
    return Draws(rng.standard_normal((rows, mechanism.width)), mechanism.amounts(rows, rng))


def keyed_draws(mechanism: Drawing, keys: Sequence[bytes]) -> Draws:
    """Return the numbers for one row per key, each from that key alone: not from its place, nor from other rows."""
    normals, amounts = np.empty((len(keys), mechanism.width)), np.empty(len(keys))
    for row, rng in enumerate(keyed_generators(keys)):
        rng.standard_normal(out=normals[row])
        amounts[row] = mechanism.amounts(1, rng)[0]
    return Draws(normals, amounts)
