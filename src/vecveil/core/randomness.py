"""Random numbers for rows of vectors: from a cipher, or seeded."""

from __future__ import annotations

import math
import secrets
from abc import ABC, abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix, Vector

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

Words: TypeAlias = NDArray[np.uint64]

KEY_BYTES = 32
START_BYTES = 16

BLOCK = 1 << 15
"""Numbers that are made together: they stay in a processor's cache meanwhile."""

_ONE = np.uint64(0x3FF0000000000000)
"""The bits of 1 as a double."""


class RandomRows(Protocol):
    """Independent random numbers for each of some rows. Every call goes on behind the numbers of the calls before."""

    def __len__(self) -> int:
        """Return how many rows there are."""

    def normals(self, count: int) -> Matrix:
        """Return `count` standard normals for each row."""

    def uniforms(self, count: int) -> Matrix:
        """Return `count` numbers strictly between 0 and 1 for each row."""

    def select(self, rows: NDArray[np.intp]) -> Self:
        """Return some of the rows, by number; each goes on where it is."""


class CipherRows(ABC):
    """Rows of numbers from AES-256 in counter mode, by OpenSSL."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def words(self, count: int) -> Words:
        """Return the next `count` words of each row."""

    def uniforms(self, count: int) -> Matrix:
        """Return an odd multiple of 2^-52 for each of the next words."""
        return _to_uniforms(self.words(count))

    def normals(self, count: int) -> Matrix:
        """Return normals by the method of Box and Muller: two words give the radius and the angle of two of them."""
        rows, half = len(self), (count + 1) // 2
        words, normals = self.words(2 * half), np.empty((rows, 2 * half))
        step = max(1, BLOCK // (2 * half))
        for start in range(0, rows, step):
            block, part = words[start : start + step], normals[start : start + step]
            radii, angles = _to_uniforms(block[:, :half]), _to_uniforms(block[:, half:])
            np.log(radii, out=radii)
            radii *= -2.0
            np.sqrt(radii, out=radii)
            # By the tangent t of half the angle: its cosine is (1 - t²)/(1 + t²), its sine 2t/(1 + t²).
            angles -= 0.5
            angles *= math.pi
            tangents = np.tan(angles, out=angles)
            squares = tangents * tangents
            radii /= squares + 1.0
            tangents *= 2.0
            np.subtract(1.0, squares, out=squares)
            np.multiply(radii, squares, out=part[:, :half])
            np.multiply(radii, tangents, out=part[:, half:])
        return normals[:, :count]


class FreshRows(CipherRows):
    """Rows that are successive parts of one key stream, under a new key of the operating system's that is not kept.

    Take new ones for each release, and never keep them across a fork: forked workers would repeat each other.

    Args:
        rows: How many.
        key: A key of the caller's in place of a new one, for tests.
    """

    def __init__(self, rows: int, *, key: bytes | None = None) -> None:
        self._rows, self._stream = rows, new_cipher(key or secrets.token_bytes(KEY_BYTES))

    def __len__(self) -> int:
        return self._rows

    def words(self, count: int) -> Words:
        """Return the next words of the stream."""
        stream = self._stream.update(bytes(8 * len(self) * count))
        return np.frombuffer(stream, dtype="<u8").reshape(len(self), count)

    def select(self, rows: NDArray[np.intp]) -> Self:
        """Return as many rows of the same stream."""
        chosen = object.__new__(type(self))
        chosen._rows, chosen._stream = len(rows), self._stream
        return chosen


class KeyedRows(CipherRows):
    """Rows that each have a stream of their own, which begins at any block of a key's.

    What a row gets depends on the key and on its start, and not on the other rows nor on its place among them. Two
    streams overlap only where their starts are closer than a row is long: of n random starts, any two come that close
    with a probability of about n²/2^117 for rows of 4,096 numbers.

    Args:
        key: 32 bytes that nobody else has.
        starts: The counter of each row's first block, 16 bytes as two words of the higher and the lower half.
    """

    def __init__(self, key: bytes, starts: Words) -> None:
        self._cipher, self._starts, self._rows = new_cipher(key), starts, np.arange(len(starts))
        # Blocks of each stream that are used up. Selected rows share it, so that what they use is used here too.
        self._used = np.zeros(len(starts), dtype=np.uint64)

    def __len__(self) -> int:
        return len(self._rows)

    def words(self, count: int) -> Words:
        """Return the next words of each row's stream."""
        counters = np.empty((len(self), 2), dtype=">u8")
        counters[:, 0] = self._starts[self._rows, 0]
        # A sum that runs over goes on at zero, so that no two blocks of a row have the same counter.
        counters[:, 1] = self._starts[self._rows, 1] + self._used[self._rows]
        starts, zeros, cipher = counters.tobytes(), bytes(8 * count), self._cipher
        streams = []
        for start in range(0, len(starts), START_BYTES):
            cipher.reset_nonce(starts[start : start + START_BYTES])
            streams.append(cipher.update(zeros))
        self._used[self._rows] += np.uint64(-(-count // 2))
        return np.frombuffer(b"".join(streams), dtype="<u8").reshape(len(self), count)

    def select(self, rows: NDArray[np.intp]) -> Self:
        """Return the rows with these numbers."""
        chosen = copy(self)
        chosen._rows = self._rows[rows]
        return chosen


class SeededRows:
    """Rows with numbers of one NumPy generator, which anyone can repeat: for tests and experiments."""

    def __init__(self, rng: np.random.Generator, rows: int) -> None:
        self._rng, self._rows = rng, rows

    def __len__(self) -> int:
        return self._rows

    def normals(self, count: int) -> Matrix:
        """Return the generator's next normals."""
        return self._rng.standard_normal((self._rows, count))

    def uniforms(self, count: int) -> Matrix:
        """Return the generator's next numbers, none of them zero."""
        return np.maximum(self._rng.random((self._rows, count)), 2.0**-54)

    def select(self, rows: NDArray[np.intp]) -> Self:
        """Return as many rows of the same generator."""
        return type(self)(self._rng, len(rows))


def draw_gammas(random: RandomRows, shape: float) -> Vector:
    """Return one number of the Gamma law for each row, by the method of Marsaglia and Tsang.

    Args:
        random: Where the numbers come from.
        shape: The parameter of the law, at least one.
    """
    d = shape - 1 / 3
    found, missing = np.empty(len(random)), np.arange(len(random))
    while missing.size:
        first, second, third = random.normals(3).T
        cubes = np.maximum(1 + first / math.sqrt(9 * d), 0.0) ** 3
        with np.errstate(divide="ignore"):
            # Half the sum of two squared normals is an exponential number: minus the logarithm of a uniform one.
            accepted = -(second**2 + third**2) < first**2 + 2 * d * (1 - cubes + np.log(cubes))
        found[missing[accepted]] = d * cubes[accepted]
        missing, random = missing[~accepted], random.select(np.flatnonzero(~accepted))
    return found


def new_cipher(key: bytes) -> CipherContext:
    """Return AES-256 in counter mode, from block zero on."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES256(key), modes.CTR(bytes(START_BYTES))).encryptor()


def _to_uniforms(words: Words) -> Matrix:
    # The upper bits of a word become the digits of a double between 1 and 2 whose last digit is odd.
    numbers = np.right_shift(words, np.uint64(12))
    numbers |= _ONE + np.uint64(1)
    uniforms: Matrix = numbers.view(np.float64)
    uniforms -= 1.0
    return uniforms
