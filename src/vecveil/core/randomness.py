"""Where noise comes from: AES-256 in counter mode, under a key of the operating system or of the owner."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix
from vecveil.core.room import Room, new_room
from vecveil.core.tangents import tangents_of_turns

CIPHER_KEY_BYTES = 32
START_BYTES = 16
"""A start is the number of a row's first block."""

WORDS_IN_BLOCK = 2
"""Of 64 bits."""

_LAST_BYTES = 15
"""The cipher's own interface wants room for one block less a byte beyond what it writes."""

Words = NDArray[np.uint64]
Rows = NDArray[np.intp] | slice

EVERY = slice(None)
"""All rows."""

_EXPONENT_BITS, _ONE_AND_ODD = np.array(12, dtype="<u8"), np.array(0x3FF0000000000001, dtype="<u8")
_HALF, _ONE, _TWO, _MINUS_EIGHT = (np.array(number) for number in (0.5, 1.0, 2.0, -8.0))
"""Made once: NumPy takes as long to make something of a Python number as to multiply a row by it."""


class RowStreams:
    """Random numbers for some rows, each from a stream of its own.

    The blocks of a row are the encryptions of its start, of the number after it, and so on: no row depends on another,
    nor on its place among them. Two streams under one key overlap only where their starts are closer than a row is
    long. Starts that are counted lie 2^64 blocks apart; of n that are random, any two come that close with a chance of
    about n²/2^117 for rows of 4,096 numbers.
    """

    def __init__(self, key: bytes, starts: Words) -> None:
        # Each block is given its own number here, so that rows need no cipher of their own: making one takes as long as
        # drawing half a row.
        self._encryptor = _encryptor(key)
        self.key, self.starts = key, starts

    def __len__(self) -> int:
        return len(self.starts)

    def words(self, first: int | Words, blocks: int, rows: Rows = EVERY) -> Words:
        """Return the words of so many blocks from `first` on, which may differ by row; of all rows, or of some."""
        return np.asarray(self.parts(1, blocks, first=first, rows=rows)[0])

    def parts(
        self, parts: int, blocks: int, *, first: int | Words = 0, rows: Rows = EVERY, room: Room = new_room
    ) -> Words:
        """Return the same words in so many parts, each of as many blocks and in one piece of memory for all rows."""
        starts = self.starts[rows]
        shape = parts, len(starts), WORDS_IN_BLOCK * blocks
        numbers = room("numbers", (*shape[:2], blocks, WORDS_IN_BLOCK), "<u8")
        if not numbers.size:
            return numbers.reshape(shape)
        numbers[..., 1] = starts[:, 1:]
        # A sum that runs over goes on at zero, and no two blocks of a row have the same number for that.
        begin, after = (starts[:, :1], first) if isinstance(first, int) else (starts[:, :1] + first[:, np.newaxis], 0)
        np.add(begin, _counted(parts, blocks, after), out=numbers[..., 0])
        encrypted = room("words", (numbers.nbytes + _LAST_BYTES,), "u1")
        self._encryptor.update_into(numbers.reshape(-1).view(np.uint8).data, encrypted.data)
        return encrypted[: numbers.nbytes].view("<u8").reshape(shape)


def fresh_streams(rows: int) -> RowStreams:
    """Return streams under a new key of 256 bits from the operating system, which nobody keeps.

    Take new ones for each release, and never keep them across a fork: forked workers would repeat each other's noise.
    """
    return RowStreams(secrets.token_bytes(CIPHER_KEY_BYTES), counted_starts(rows))


@lru_cache(maxsize=16)
def counted_starts(rows: int) -> Words:
    """Return where so many streams of one key begin that is used for these alone: 2^64 blocks apart."""
    starts = np.zeros((rows, WORDS_IN_BLOCK), dtype="<u8")
    starts[:, 1] = np.arange(rows)
    starts.flags.writeable = False
    return starts


def keyed_streams(key: bytes, starts: Sequence[bytes]) -> RowStreams:
    """Return the streams of a 32-byte key that begin at these starts of 16 bytes each."""
    return RowStreams(key, np.frombuffer(b"".join(starts), dtype="<u8").reshape(len(starts), WORDS_IN_BLOCK))


def between_one_and_two(words: Words) -> Matrix:
    """Return `words`, which are overwritten, as numbers between 1 and 2 that reach neither, in steps of 2^-51."""
    # The upper bits become the digits of a floating-point number whose exponent is zero and whose last digit is odd.
    words >>= _EXPONENT_BITS
    words |= _ONE_AND_ODD
    return words.view("<f8")


def standard_normals(halves: Words, width: int, *, room: Room = new_room) -> tuple[Matrix, Matrix]:
    """Return independent standard normals, so many for each row, and others that come with them.

    It is the method of Box and Muller: of a pair the word in the first half gives a distance from the origin and that
    in the second an angle θ. Cosine and sine come from the tangent of θ/2, which is one slow function in place of two.

    Args:
        halves: Words of the rows in two parts; they are used up. Each part lies in one piece, or every step would go
            row by row, which takes twice as long.
        width: How many normals a row needs. Half as many words of each part go into them; each that is left makes one
            of the others.
        room: Where the normals go.
    """
    diameters, tangents = between_one_and_two(halves)
    # 2 - u lies between 0 and 1, so that the distance is never zero: a direction is taken.
    np.subtract(_TWO, diameters, out=diameters)
    np.log(diameters, out=diameters)
    diameters *= _MINUS_EIGHT
    np.sqrt(diameters, out=diameters)
    # The tangent has a period of π: that u begins at 1 makes no difference. It is never the pole, as its digit is odd.
    tangents_of_turns(tangents, room=room)
    # r cos θ = 2r/(1 + t²) - r and r sin θ = 2rt/(1 + t²).
    shares = np.multiply(tangents, tangents, out=room("shares", tangents.shape))
    shares += _ONE
    np.divide(diameters, shares, out=shares)
    diameters *= _HALF
    normals = room("normals", (halves.shape[1], width))
    left = -(-width // 2)
    right = width - left
    np.subtract(shares[:, :left], diameters[:, :left], out=normals[:, :left])
    np.multiply(shares[:, :right], tangents[:, :right], out=normals[:, left:])
    return normals, shares[:, left:] - diameters[:, left:]


def _encryptor(key: bytes) -> Any:
    cipher, algorithm, mode = _aes()
    return cipher(algorithm(key), mode).encryptor()


@cache
def _aes() -> tuple[Any, Any, Any]:
    # Late, as it takes a while to load; once, as even to ask for what is loaded takes a microsecond.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher, algorithms.AES256, modes.ECB()


@lru_cache(maxsize=16)
def _counted(parts: int, blocks: int, first: int) -> Words:
    numbers = np.arange(first, first + parts * blocks, dtype="<u8").reshape(parts, 1, blocks)
    numbers.flags.writeable = False
    return numbers
