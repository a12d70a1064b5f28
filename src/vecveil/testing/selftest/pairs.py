"""Two inputs that the mechanism promises to keep apart by no more than epsilon times their distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import not_negative
from vecveil.mechanisms import Mechanism
from vecveil.testing.selftest.subjects import MANY, Subject

NEAR_LOSS = 1.0
"""Nats between the inputs of a near pair: there the promise itself is within reach of a sample."""

FAR = 3.0
"""Deviations of the loss, ε·d/√n, between the inputs of a far pair: there a wrong scale of the noise shows best."""

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
