"""Pairs of inputs, and what an observer sees of their releases."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.checks import not_negative
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import Mechanism
from vecveil.testing.selftest.subjects import MANY, Subject

NEAR_LOSS = 1.0
"""Nats between the inputs of a near pair: there the promise itself is within reach of a sample."""

FAR = 3.0
"""Deviations of the loss, ε·d/√n, between the inputs of a far pair: there a wrong scale of the noise shows best."""

CHUNK_NUMBERS = 1 << 21
"""Numbers of releases that are held at a time."""

TOUCHING = 1e-9
"""Inputs at a smaller distance must not be told apart at all."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two inputs.

    Attributes:
        name: How they differ.
        first: The one.
        second: The other.
        distance: Between them, in the mechanism's own distance.
    """

    name: str
    first: Vector
    second: Vector
    distance: float


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

    def swap(self) -> Releases:
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


def pairs_of(subject: Subject) -> Iterator[Pair]:
    """Yield pairs along single axes and between all, and those that must not be told apart at all."""
    shape, mechanism = subject.shape, subject.mechanism
    released = np.isfinite(shape.variances)
    axes = np.eye(shape.dimensions) if shape.axes is None else shape.axes
    ours, deviations = axes[:, released], np.sqrt(shape.variances[released])
    # Seen in units of the noise, this differs along all axes by about as much.
    mixed = ours @ (deviations * np.cos(1 + np.arange(deviations.size)))
    point = np.full(shape.dimensions, 1 / math.sqrt(shape.dimensions))
    far = FAR * math.sqrt(deviations.size) / mechanism.epsilon
    yield _pair("far", mechanism, point, mixed, far)
    if shape.dimensions > MANY:
        return
    yield _pair("near", mechanism, point, mixed, NEAR_LOSS / mechanism.epsilon)
    yield _pair("far, narrowest axis", mechanism, point, ours[:, np.argmin(deviations)], far)
    yield _pair("far, widest axis", mechanism, point, ours[:, np.argmax(deviations)], far)
    alike = {"length only": 2 * point}
    if not released.all():
        alike["unreleased axis only"] = point + axes[:, ~released][:, 0]
    for name, other in alike.items():
        if _distance(mechanism, point, other) < TOUCHING:
            yield Pair(name=name, first=point, second=other, distance=0.0)


def observe(subject: Subject, pair: Pair, original: Vector, *, samples: int, rng: np.random.Generator) -> Releases:
    """Release `original`, one of the pair, that many times."""
    rows = max(1, CHUNK_NUMBERS // original.size)
    sizes = (min(rows, samples - start) for start in range(0, samples, rows))
    # Looked at part by part, since the vectors of all would not fit.
    parts = [_measure(subject.mechanism, pair, subject.perturb(np.tile(original, (size, 1)), rng)) for size in sizes]
    seen = np.concatenate(parts, axis=1)
    if not np.isfinite(seen).all():
        raise InvalidInputError("releases must be finite numbers, and so must be their log_density")
    near_first, near_second, along = seen
    return Releases(near_first=near_first, near_second=near_second, along=along)


def _measure(mechanism: Mechanism, pair: Pair, released: Matrix) -> Matrix:
    direction = (pair.first - pair.second) / np.linalg.norm(pair.first - pair.second)
    originals = (np.tile(point, (len(released), 1)) for point in (pair.first, pair.second))
    near = (mechanism.log_density(released, original) for original in originals)
    return np.stack([*near, np.asarray(released @ direction, dtype=np.float64)])


def _pair(name: str, mechanism: Mechanism, point: Vector, direction: Vector, distance: float) -> Pair:
    """Return `point` and another one, about as far away as asked for: an angle can't be of any size."""
    step = 1.0
    for _ in range(30):
        step *= distance / _distance(mechanism, point, point - step * direction)
        # An angle that can't be reached would take the step to infinity.
        step = min(step, 1e3)
    other = point - step * direction
    return Pair(name=name, first=point, second=other, distance=_distance(mechanism, point, other))


def _distance(mechanism: Mechanism, first: Vector, second: Vector) -> float:
    return not_negative(mechanism.distance(first[np.newaxis], second[np.newaxis])[0], "distance")
