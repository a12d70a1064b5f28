"""Generators that must not be taken for secure ones."""

from __future__ import annotations

import secrets

import numpy as np

from vecveil.core.randomness import ROUNDS

_INHERITED = np.random.Generator(np.random.PCG64(0))


def inherited() -> np.random.Generator:
    """A generator that a module holds: every worker that is forked goes on from the same state."""
    return _INHERITED


def eight_rounds() -> np.random.Generator:
    """ChaCha with eight rounds in place of twenty."""
    from randomgen import ChaCha

    return np.random.Generator(ChaCha(key=secrets.randbits(256), rounds=8))


def fixed_key() -> np.random.Generator:
    """ChaCha20 with a key that someone wrote into the program."""
    from randomgen import ChaCha

    return np.random.Generator(ChaCha(key=20, rounds=ROUNDS))
