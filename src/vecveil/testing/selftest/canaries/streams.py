"""Streams that must not be taken for secure ones."""

from __future__ import annotations

import secrets

import numpy as np

from vecveil.core.randomness import CIPHER_KEY_BYTES, EVERY, WORDS_IN_BLOCK, Rows, RowStreams, Words, counted_starts
from vecveil.core.room import Room, new_room

_HELD = secrets.token_bytes(CIPHER_KEY_BYTES)


def held_key(rows: int) -> RowStreams:
    """A key that a module holds: every call, and every worker that is forked, repeats the same noise."""
    return RowStreams(_HELD, counted_starts(rows))


def short_key(rows: int) -> RowStreams:
    """AES with a key of 128 bits in place of 256."""
    return _ShortKey(secrets.token_bytes(CIPHER_KEY_BYTES), counted_starts(rows))


def stuck_rows(rows: int) -> RowStreams:
    """One stream for all rows of a batch."""
    return RowStreams(secrets.token_bytes(CIPHER_KEY_BYTES), np.zeros((rows, 2), dtype="<u8"))


def overlapping_rows(rows: int) -> RowStreams:
    """Streams that begin a few blocks apart: one row's noise goes on in the next."""
    starts = np.zeros((rows, 2), dtype="<u8")
    starts[:, 0] = np.arange(0, 100 * rows, 100)
    return RowStreams(secrets.token_bytes(CIPHER_KEY_BYTES), starts)


def no_cipher(rows: int) -> RowStreams:
    """A generator for simulations, which can be predicted from what it puts out."""
    return _NoCipher(secrets.token_bytes(CIPHER_KEY_BYTES), counted_starts(rows))


def same_halves(rows: int) -> RowStreams:
    """The numbers of a row's first half once more for its second: distances and angles that go together."""
    return _SameHalves(secrets.token_bytes(CIPHER_KEY_BYTES), counted_starts(rows))


class _ShortKey(RowStreams):
    def __init__(self, key: bytes, starts: Words) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        super().__init__(key, starts)
        self._encryptor = Cipher(algorithms.AES128(key[:16]), modes.ECB()).encryptor()


class _NoCipher(RowStreams):
    def words(self, first: int | Words, blocks: int, rows: Rows = EVERY, *, room: Room = new_room) -> Words:
        del room
        asked = np.arange(len(self))[rows]
        seeds = [[int.from_bytes(self.key), int(np.ravel(first)[0]), int(row)] for row in asked]
        words = [np.random.PCG64(seed).random_raw(WORDS_IN_BLOCK * blocks) for seed in seeds]
        return np.array(words, dtype="<u8").reshape(len(asked), WORDS_IN_BLOCK * blocks)


class _SameHalves(RowStreams):
    def words(self, first: int | Words, blocks: int, rows: Rows = EVERY, *, room: Room = new_room) -> Words:
        words = super().words(first, blocks, rows, room=room)
        half = words.shape[1] // 2
        words[:, half:] = words[:, :half]
        return words
