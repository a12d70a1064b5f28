"""BLAKE2s of many rows at once, several side by side: the digests of `hashlib`, in a fifth of the time on each core.

To load it takes as long as to load the other loops, so whoever needs it loads it late.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from vecveil.core.compiled import compiled, read, written

_WORD = types.uint32
_STATE = cast("Any", types).UniTuple(_WORD, 8)
_taken_apart = cast("Any", cgutils).unpack_tuple

_LANES = 16
"""Rows that are worked on together."""

_IN_BLOCK, _IN_STATE, _WORD_BYTES = 16, 8, 4
"""Words in a block and in a state, and bytes in a word."""

_FIRST = np.array(
    [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19], dtype=np.uint32
)
"""What every state begins as (RFC 7693, section 2.6)."""

_SETTINGS = 0x01010020
"""No key, no tree, and digests of 32 bytes."""

_QUADS = tuple(
    (column, 4 + (column + lean) % 4, 8 + (column + 2 * lean) % 4, 12 + (column + 3 * lean) % 4)
    for lean in (0, 1)
    for column in range(4)
)
"""Which words of the work space are mixed with each other, by columns and then by diagonals."""

_ORDERS = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3),
    (11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4),
    (7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8),
    (9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13),
    (2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9),
    (12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11),
    (13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10),
    (6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5),
    (10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0),
)
"""In which order each round takes the words of a block (RFC 7693, section 2.7)."""

_TURNS = ((16, 12), (8, 7))
"""By how many bits words are turned to the right, in both halves of a mixing."""


def _mixing(context: Any, state: Any, block: Any, read_bytes: Any, ending: Any) -> Any:
    """Return the state after a block (RFC 7693, section 3.2).

    Written out as instructions: as a loop over rounds, no compiler would work on several rows at once.
    """
    del context

    def written_out(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = ir.IntType(8 * _WORD_BYTES)

        def turned(value: Any, bits: int) -> Any:
            lower, upper = (ir.Constant(word, by) for by in (bits, word.width - bits))
            return builder.or_(builder.lshr(value, lower), builder.shl(value, upper))

        before, message = (list(_taken_apart(builder, value)) for value in values[:2])
        work = [*before, *(ir.Constant(word, int(first)) for first in _FIRST)]
        work[12], work[14] = builder.xor(work[12], values[2]), builder.xor(work[14], values[3])
        for order in _ORDERS:
            for place, (a, b, c, d) in enumerate(_QUADS):
                for taken, (one, other) in zip(order[2 * place : 2 * place + 2], _TURNS, strict=True):
                    work[a] = builder.add(builder.add(work[a], work[b]), message[taken])
                    work[d] = turned(builder.xor(work[d], work[a]), one)
                    work[c] = builder.add(work[c], work[d])
                    work[b] = turned(builder.xor(work[b], work[c]), other)
        halves = zip(before, work[:_IN_STATE], work[_IN_STATE:], strict=True)
        after = [builder.xor(builder.xor(old, left), right) for old, left, right in halves]
        return context.make_tuple(builder, signature.return_type, after)

    return _STATE(state, block, read_bytes, ending), written_out


_mixed: Any = intrinsic(_mixing)


@compiled(types.void(read(_WORD, 2), written(_WORD, 2)))
def fill_digests(rows: NDArray[np.uint32], digests: NDArray[np.uint32]) -> None:
    """Write the digest of each row, eight words, which are not looked at as anything but 32 bits each."""
    width = rows.shape[1]
    # A row of no words has one block of zeros.
    blocks = max(1, (width + _IN_BLOCK - 1) // _IN_BLOCK)
    m, h = np.empty((_IN_BLOCK, _LANES), np.uint32), np.empty((_IN_STATE, _LANES), np.uint32)
    for start in range(0, rows.shape[0], _LANES):
        together = min(_LANES, rows.shape[0] - start)
        for word in range(_IN_STATE):
            for lane in range(_LANES):
                h[word, lane] = _FIRST[word] ^ np.uint32(_SETTINGS if word == 0 else 0)
        for block in range(blocks):
            begin = _IN_BLOCK * block
            there = min(_IN_BLOCK, width - begin)
            for lane in range(together):
                for word in range(there):
                    m[word, lane] = rows[start + lane, begin + word]
            for word in range(there, _IN_BLOCK):
                for lane in range(_LANES):
                    m[word, lane] = 0
            read_bytes = np.uint32(_WORD_BYTES * (begin + there))
            ending = np.uint32(0xFFFFFFFF if block == blocks - 1 else 0)
            for i in range(_LANES):
                state = h[0, i], h[1, i], h[2, i], h[3, i], h[4, i], h[5, i], h[6, i], h[7, i]
                first = m[0, i], m[1, i], m[2, i], m[3, i], m[4, i], m[5, i], m[6, i], m[7, i]
                second = m[8, i], m[9, i], m[10, i], m[11, i], m[12, i], m[13, i], m[14, i], m[15, i]
                state = _mixed(state, first + second, read_bytes, ending)
                h[0, i], h[1, i], h[2, i], h[3, i], h[4, i], h[5, i], h[6, i], h[7, i] = state
        for lane in range(together):
            for word in range(_IN_STATE):
                digests[start + lane, word] = h[word, lane]
