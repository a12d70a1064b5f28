"""Where noise comes from: AES-256 in counter mode, under a key of the operating system or of the owner."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Matrix
from vecveil.core.digests import DIGEST_BYTES, Digests
from vecveil.core.errors import InvalidInputError
from vecveil.core.late import aes, loops
from vecveil.core.room import Room, new_room

CIPHER_KEY_BYTES = 32
START_BYTES = 16
"""A start is the number of a row's first block."""

WORDS_IN_BLOCK = 2
"""Of 64 bits."""

_LAST_WORDS = 2
"""The cipher's own interface wants room for one block less a byte beyond what it writes."""

Words = NDArray[np.uint64]
Rows = NDArray[np.intp] | slice

EVERY = slice(None)
"""All rows."""


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
        self.key, self.starts = key, np.ascontiguousarray(starts)

    def __len__(self) -> int:
        return len(self.starts)

    def words(self, first: int | Words, blocks: int, rows: Rows = EVERY, *, room: Room = new_room) -> Words:
        """Return the words of so many blocks from `first` on, which may differ by row; of all rows, or of some."""
        starts = self.starts if rows is EVERY else self.starts[rows]
        if not isinstance(first, int):
            starts, first = np.stack([starts[:, 0] + first, starts[:, 1]], axis=1), 0
        shape = len(starts), WORDS_IN_BLOCK * blocks
        numbers = room("numbers", (shape[0] * shape[1],), "<u8")
        if not numbers.size:
            return numbers.reshape(shape)
        loops().number_blocks(starts, first, numbers)
        encrypted = room("words", (numbers.size + _LAST_WORDS,), "<u8")
        self._encryptor.update_into(numbers.view(np.uint8), encrypted.view(np.uint8))
        return encrypted[:-_LAST_WORDS].reshape(shape)


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


def keyed_streams(key: bytes, starts: Sequence[bytes] | Words) -> RowStreams:
    """Return the streams of a 32-byte key that begin at these starts of 16 bytes each."""
    if not isinstance(starts, np.ndarray):
        starts = np.frombuffer(b"".join(starts), dtype="<u8").reshape(len(starts), WORDS_IN_BLOCK)
    return RowStreams(key, starts)


def keyed_starts(key: bytes, digests: Sequence[bytes]) -> Words:
    """Return where the stream of each digest of 32 bytes begins, which nobody can tell without the 32-byte key.

    It is the CBC-MAC of AES-256. For messages that are all of one length it can't be told from chance, but with one of
    about n²/2^127 for n digests. All are worked on in two calls of the cipher, in place of some for each.
    """
    if isinstance(digests, Digests):
        whole = digests.tobytes()
    elif set(map(len, digests)) - {DIGEST_BYTES}:
        raise InvalidInputError(f"what streams are named by must be digests of {DIGEST_BYTES} bytes each")
    else:
        whole = b"".join(digests)
    halves = DIGEST_BYTES // START_BYTES
    blocks = np.frombuffer(whole, dtype="<u8").reshape(len(digests), halves, WORDS_IN_BLOCK)
    encryptor, starts = _encryptor(key), np.zeros((len(digests), WORDS_IN_BLOCK), dtype="<u8")
    for half in range(halves):
        encrypted = encryptor.update((starts ^ blocks[:, half]).tobytes())
        starts = np.frombuffer(encrypted, dtype="<u8").reshape(starts.shape)
    return starts


def standard_normals(words: Words, width: int, *, room: Room = new_room) -> tuple[Matrix, Matrix]:
    """Return independent standard normals, so many for each row, and others that come with them.

    Args:
        words: Of each row, an even number of them. Each normal takes one, and half of the rest make one more each.
        width: How many normals a row needs.
        room: Where the normals go.
    """
    rows, each = words.shape
    normals, spare = room("normals", (rows, width)), room("spare", (rows, each // 2 - (width + 1) // 2))
    loops().fill_normals(words, normals, spare)
    return normals, spare


def _encryptor(key: bytes) -> Any:
    cipher, algorithm, mode = aes()
    return cipher(algorithm(key), mode).encryptor()
