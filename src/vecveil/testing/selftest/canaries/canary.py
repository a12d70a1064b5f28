"""The list of broken parts that the self-test must catch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vecveil.mechanisms import Mechanism
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries import additive, directional, streams
from vecveil.testing.selftest.streams import RowSource
from vecveil.testing.selftest.subjects import Law, Subject, subject_of, uneven_shapes

DIMENSIONS = 16
"""Few enough for every flaw to show."""

MANY_DIMENSIONS = 384
"""Where the worst case says little, and a wrong scale must show all the same."""

_DIAGONAL = (
    additive.WrongGammaShape,
    additive.TooLittleNoise,
    additive.Renormalized,
    additive.PerCoordinate,
    additive.IgnoredVariances,
    additive.SharedRadius,
    additive.SharedBetweenNeighbors,
    additive.RepeatedHalf,
    additive.Antithetic,
    additive.ClippedTails,
    additive.TwinAxes,
)
_DIRECTIONAL = (
    directional.FlatAngle,
    directional.WrongDimension,
    directional.AlwaysOneSide,
    directional.SharedSide,
    directional.AngleBySide,
    directional.KeptLength,
)
_STREAMS = (
    streams.held_key,
    streams.short_key,
    streams.stuck_rows,
    streams.overlapping_rows,
    streams.same_halves,
    streams.no_cipher,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Canary:
    """Something broken.

    Attributes:
        name: What it is called.
        flaw: What is wrong with it.
        broken: The mechanism in its shape, or the source of rows.
    """

    name: str
    flaw: str
    broken: Subject | RowSource


def canaries() -> Iterator[Canary]:
    """Yield every canary."""
    shapes = uneven_shapes(DIMENSIONS)
    plain = NoiseShape(variances=np.ones(DIMENSIONS))
    for kind in _DIAGONAL:
        yield _canary(kind, shapes["diagonal"], "elliptical")
    yield _canary(additive.TooLittleNoise, uneven_shapes(MANY_DIMENSIONS)["diagonal"], "elliptical")
    yield _canary(additive.TransposedAxes, shapes["rotated"], "elliptical")
    yield _canary(additive.LeakedAxes, shapes["partly unreleased"], "elliptical")
    for turning in _DIRECTIONAL:
        yield _canary(turning, plain, "angular")
    # At a small epsilon, its inverse is a large concentration: little noise where much was promised.
    yield _canary(directional.VonMisesFisher, plain, "angular", epsilon=0.1)
    yield _canary(additive.NormalNoise, NoiseShape(variances=np.ones(2)), law=None)
    for source in _STREAMS:
        yield Canary(name=f"streams, {_words(source.__name__)}", flaw=_flaw(source), broken=source)


def _canary(kind: type[Mechanism], shape: NoiseShape, law: Law | None, epsilon: float | None = None) -> Canary:
    name = f"{_words(kind.__name__)}, n = {shape.dimensions}"
    broken = subject_of(kind, shape, name=name, variant="canary", law=law, epsilon=epsilon)
    return Canary(name=name, flaw=_flaw(kind), broken=broken)


def _words(name: str) -> str:
    """Return `WrongGammaShape` or `wrong_gamma_shape` as "wrong gamma shape"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()


def _flaw(thing: object) -> str:
    return (thing.__doc__ or "").strip()
