"""AES-256 once more, in plain Python after FIPS 197, to hold the quick one against."""

from __future__ import annotations

from functools import cache

ROUNDS = 14
SHIFTED = tuple((4 * column + 5 * row) % 16 for column in range(4) for row in range(4))
"""Where each byte of a block comes from when row r is turned left by r."""


def encrypted(key: bytes, block: bytes) -> bytes:
    """Return the encryption of a block of 16 bytes under a key of 32."""
    keys = _round_keys(key)
    state = _mixed_with(block, keys[0])
    for number in range(1, ROUNDS):
        state = _mixed_with(_columns(_shifted(state)), keys[number])
    return _mixed_with(_shifted(state), keys[ROUNDS])


def _shifted(state: bytes) -> bytes:
    box = _box()
    return bytes(box[state[place]] for place in SHIFTED)


def _columns(state: bytes) -> bytes:
    mixed = bytearray()
    for start in range(0, 16, 4):
        column = state[start : start + 4]
        for row in range(4):
            a, b, c, d = (column[(row + step) % 4] for step in range(4))
            mixed.append(_doubled(a) ^ _doubled(b) ^ b ^ c ^ d)
    return bytes(mixed)


def _mixed_with(state: bytes, key: bytes) -> bytes:
    return bytes(one ^ other for one, other in zip(state, key, strict=True))


def _doubled(value: int) -> int:
    """Return twice a number of the field with 256 elements."""
    return value << 1 ^ 0x11B if value & 0x80 else value << 1


@cache
def _box() -> bytes:
    """Return the substitution: the inverse in the field, then a fixed mix of its bits."""
    powers = [1]
    for _ in range(254):
        # Times three, which reaches every element but zero.
        powers.append(_doubled(powers[-1]) ^ powers[-1])
    inverses = [0] * 256
    for place, value in enumerate(powers):
        inverses[value] = powers[-place % 255]
    return bytes(_bits(inverse) for inverse in inverses)


def _bits(value: int) -> int:
    mixed = 0x63
    for turn in range(5):
        mixed ^= (value << turn | value >> 8 - turn) & 0xFF
    return mixed


def _round_keys(key: bytes) -> list[bytes]:
    box, constant = _box(), 1
    words = [key[start : start + 4] for start in range(0, 32, 4)]
    while len(words) < 4 * (ROUNDS + 1):
        word = words[-1]
        if len(words) % 8 == 0:
            word = bytes(box[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _doubled(constant)
        elif len(words) % 8 == 4:
            word = bytes(box[byte] for byte in word)
        words.append(_mixed_with(word, words[-8]))
    return [b"".join(words[start : start + 4]) for start in range(0, len(words), 4)]
