"""Broken sources of random numbers."""

from __future__ import annotations

import secrets

import numpy as np

from vecveil.core.randomness import KEY_BYTES, FreshRows, Words

_HELD = secrets.token_bytes(KEY_BYTES)


def held_key(rows: int) -> FreshRows:
    """A key that a module holds: every call, and every worker that is forked, repeats the same noise."""
    return FreshRows(rows, key=_HELD)


def short_key(rows: int) -> FreshRows:
    """AES with a key of 128 bits in place of 256."""
    return _ShortKey(rows)


def stuck_rows(rows: int) -> FreshRows:
    """One stream for all rows of a batch."""
    return _StuckRows(rows)


def overlapping_rows(rows: int) -> FreshRows:
    """Streams that begin a few blocks apart: one row's noise goes on in the next."""
    return _OverlappingRows(rows)


def no_cipher(rows: int) -> FreshRows:
    """A generator for simulations, which can be predicted from its output."""
    return _NoCipher(rows)


def same_halves(rows: int) -> FreshRows:
    """The numbers of a row's first half once more for its second: radii and angles that go together."""
    return _SameHalves(rows)


class _ShortKey(FreshRows):
    def __init__(self, rows: int, *, key: bytes | None = None) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        super().__init__(rows, key=key)
        short = (key or secrets.token_bytes(KEY_BYTES))[:16]
        self._stream = Cipher(algorithms.AES128(short), modes.CTR(bytes(16))).encryptor()


class _StuckRows(FreshRows):
    def words(self, count: int) -> Words:
        return np.repeat(super().words(count)[:1], len(self), axis=0)


class _OverlappingRows(FreshRows):
    def words(self, count: int) -> Words:
        stream = super().words(count).ravel()
        return np.stack([np.resize(stream[100 * row :], count) for row in range(len(self))])


class _NoCipher(FreshRows):
    def words(self, count: int) -> Words:
        seed = int.from_bytes(super().words(2).tobytes()[:16])
        return np.random.PCG64(seed).random_raw((len(self), count))


class _SameHalves(FreshRows):
    def words(self, count: int) -> Words:
        half = super().words(count - count // 2)
        return np.concatenate([half, half[:, : count // 2]], axis=1)
