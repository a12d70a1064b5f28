"""ChaCha20 once more, in plain Python after RFC 8439, to hold the quick one against."""

from __future__ import annotations

import struct

WORD = 0xFFFFFFFF
CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def keystream(key: bytes, *, blocks: int, first: int = 0, nonce: bytes = bytes(12)) -> bytes:
    """Return blocks of 64 bytes of the key stream.

    Args:
        key: 32 bytes.
        blocks: How many blocks.
        first: Number of the first one.
        nonce: 12 bytes.
    """
    return b"".join(_block(key, counter, nonce) for counter in range(first, first + blocks))


def _block(key: bytes, counter: int, nonce: bytes) -> bytes:
    start = [*CONSTANTS, *struct.unpack("<8I", key), counter, *struct.unpack("<3I", nonce)]
    state = list(start)
    for _ in range(10):
        for places in COLUMNS + DIAGONALS:
            _quarter_round(state, *places)
    return struct.pack("<16I", *((mixed + before) & WORD for mixed, before in zip(state, start, strict=True)))


def _quarter_round(state: list[int], a: int, b: int, c: int, d: int) -> None:
    for into, add, turn, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[into] = (state[into] + state[add]) & WORD
        mixed = state[turn] ^ state[into]
        state[turn] = (mixed << bits | mixed >> 32 - bits) & WORD
