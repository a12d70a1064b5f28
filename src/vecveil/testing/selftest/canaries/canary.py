"""Broken sources of random numbers, and the list of all canaries."""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vecveil.core.randomness import KEY_BYTES, FreshRows, Words
from vecveil.mechanisms import Mechanism
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries import samplers
from vecveil.testing.selftest.streams import RowSource
from vecveil.testing.selftest.subjects import Law, Subject, subject_of, uneven_shapes

_HELD = secrets.token_bytes(KEY_BYTES)


def held_key(rows: int) -> FreshRows:
    """A key that a module holds: every call, and every worker that is forked, repeats the same noise."""
    return FreshRows(rows, key=_HELD)


class ShortKey(FreshRows):
    """AES with a key of 128 bits in place of 256."""

    def __init__(self, rows: int, *, key: bytes | None = None) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        super().__init__(rows, key=key)
        short = (key or secrets.token_bytes(KEY_BYTES))[:16]
        self._stream = Cipher(algorithms.AES128(short), modes.CTR(bytes(16))).encryptor()


class StuckRows(FreshRows):
    """One stream for all rows of a batch."""

    def words(self, count: int) -> Words:
        """Return the next words."""
        return np.repeat(super().words(count)[:1], len(self), axis=0)


class OverlappingRows(FreshRows):
    """Streams that begin a few blocks apart: one row's noise goes on in the next."""

    def words(self, count: int) -> Words:
        """Return the next words."""
        stream = super().words(count).ravel()
        return np.stack([np.resize(stream[100 * row :], count) for row in range(len(self))])


class NoCipher(FreshRows):
    """A generator for simulations, which can be predicted from its output."""

    def words(self, count: int) -> Words:
        """Return the next words."""
        seed = int.from_bytes(super().words(2).tobytes()[:16])
        return np.random.PCG64(seed).random_raw((len(self), count))


class SameHalves(FreshRows):
    """The numbers of a row's first half once more for its second: radii and angles that go together."""

    def words(self, count: int) -> Words:
        """Return the next words."""
        half = super().words(count - count // 2)
        return np.concatenate([half, half[:, : count // 2]], axis=1)


DIMENSIONS = 16
"""Few enough for every flaw to show."""

MANY_DIMENSIONS = 384
"""Where the worst case says little, and a wrong scale must show all the same."""

_DIAGONAL = (
    samplers.wrong_gamma_shape,
    samplers.too_little_noise,
    samplers.renormalized_noise,
    samplers.per_coordinate,
    samplers.ignored_variances,
    samplers.shared_radius,
    samplers.shared_between_neighbors,
    samplers.repeated_half,
    samplers.antithetic,
    samplers.clipped_tails,
    samplers.twin_axes,
)
_DIRECTIONAL = (
    samplers.flat_angle,
    samplers.wrong_dimension,
    samplers.always_one_side,
    samplers.shared_side,
    samplers.angle_by_side,
    samplers.kept_length,
)
_STREAMS = (held_key, ShortKey, StuckRows, OverlappingRows, SameHalves, NoCipher)


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
    yield _canary(samplers.too_little_noise, uneven_shapes(MANY_DIMENSIONS)["diagonal"], "elliptical")
    yield _canary(samplers.transposed_axes, shapes["rotated"], "elliptical")
    yield _canary(samplers.leaked_axes, shapes["partly unreleased"], "elliptical")
    for turning in _DIRECTIONAL:
        yield _canary(turning, plain, "angular")
    # At a small epsilon, its inverse is a large concentration: little noise where much was promised.
    yield _canary(samplers.von_mises_fisher, plain, "angular", epsilon=0.1)
    yield _canary(samplers.normal_noise, NoiseShape(variances=np.ones(2)), law=None)
    for source in _STREAMS:
        yield Canary(name=f"streams, {_words(source.__name__)}", flaw=_flaw(source), broken=source)


def _canary(kind: type[Mechanism], shape: NoiseShape, law: Law | None, epsilon: float | None = None) -> Canary:
    name = f"{_words(kind.__name__)}, n = {shape.dimensions}"
    broken = subject_of(kind, shape, name=name, variant="canary", law=law, epsilon=epsilon)
    return Canary(name=name, flaw=_flaw(kind), broken=broken)


def _words(name: str) -> str:
    """Return `ShortKey` or `held_key` in words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()


def _flaw(thing: object) -> str:
    return (thing.__doc__ or "").strip()
