"""What takes a while to load: it is loaded when it is first used, once, as even to ask again takes a microsecond."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def loops() -> Any:
    """Return the module of compiled loops."""
    from vecveil.core import loops

    return loops


@cache
def axis_loops() -> Any:
    """Return the module of compiled loops that work on a few axes."""
    from vecveil.core import axis_loops

    return axis_loops


@cache
def fill_digests() -> Any:
    """Return the compiled loop that writes the digests of many rows."""
    from vecveil.core.blake2s import fill_digests

    return fill_digests


@cache
def aes() -> tuple[Any, Any, Any]:
    """Return what makes a cipher, its algorithm, and its mode for numbered blocks."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    # Each block has a number of its own, so that none is encrypted twice under one key.
    return Cipher, algorithms.AES256, modes.ECB()  # noqa: S305
