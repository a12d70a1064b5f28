"""Where noise comes from."""

from __future__ import annotations

import secrets

import numpy as np


def secure_generator() -> np.random.Generator:
    """Return a new generator on the ChaCha20 stream cipher, keyed by the operating system.

    NumPy's own generators can be predicted from what they put out, and forked workers that inherit one repeat
    each other's noise. Every call here draws 256 fresh bits for the key, so take one generator per call that
    adds noise, and never keep one across a fork.
    """
    from randomgen import ChaCha

    return np.random.Generator(ChaCha(key=secrets.randbits(256), rounds=20))
