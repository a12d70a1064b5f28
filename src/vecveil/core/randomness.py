"""Where noise comes from: a stream cipher keyed by the operating system, or by the owner's key for each record."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence

import numpy as np

ROUNDS = 20
"""Of ChaCha; its designer's number, and the one that RFC 8439 has."""


def secure_generator() -> np.random.Generator:
    """Return a new generator on the ChaCha20 stream cipher, keyed by the operating system.

    NumPy's own generators can be predicted from what they put out, and forked workers that inherit one repeat
    each other's noise. Every call here draws 256 fresh bits for the key, so take one generator per call that
    adds noise, and never keep one across a fork.
    """
    from randomgen import ChaCha

    return np.random.Generator(ChaCha(key=secrets.randbits(256), rounds=ROUNDS))


def keyed_generators(keys: Sequence[bytes]) -> Iterator[np.random.Generator]:
    """Yield a generator on the ChaCha20 stream of each 32-byte key, valid until the next one is asked for.

    It is one generator that is set to each key in turn: making one anew takes ten times as long.
    """
    from randomgen import ChaCha

    cipher = ChaCha(key=0, rounds=ROUNDS)
    generator = np.random.Generator(cipher)
    start = cipher.state
    for key in keys:
        start["state"]["keysetup"] = np.frombuffer(key, dtype="<u4").astype(np.uint32)
        cipher.state = start
        yield generator
