"""Public sentences that are embedded to see what a model's vectors are."""

from __future__ import annotations

import hashlib

import numpy as np

from vecveil.core.arrays import Embeddings

PROBE = "The quick brown fox jumps over the lazy dog."
"""The one public sentence that is sent to a service."""

PROBES = (PROBE, "Interest rates were left unchanged.", "ZÜRICH, 3 May: snow above 1,200 metres!", "a b c " * 60)
"""What a model is known by that has no digest: plain words, signs and capitals, and a text that some cut off."""

LENGTH_TOLERANCE = 1e-3
"""Half precision and short decimals, in which many services and files hold vectors, move a length by less."""

_PLANES = 8


def have_length_one(vectors: Embeddings) -> bool:
    """Return whether every row has length one, as far as half precision can tell."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    return bool(np.all(np.abs(lengths - 1) <= LENGTH_TOLERANCE))


def sign_bits(vectors: Embeddings) -> str:
    """Return on which side of eight fixed random planes each vector lies, as hexadecimal digits.

    Other models give other bits. The same model gives the same ones, though last digits differ from one processor to
    another: a bit would change only if a vector lay that near to a plane. Of rounded numbers, hundreds in each vector,
    some would always be near to the next step.
    """
    size = _PLANES * vectors.shape[1]
    stream = hashlib.shake_256(b"vecveil planes").digest(-(-size // 8))
    planes = 2.0 * np.unpackbits(np.frombuffer(stream, dtype=np.uint8))[:size].reshape(_PLANES, -1) - 1
    return np.packbits(vectors.astype(np.float64) @ planes.T > 0).tobytes().hex()
