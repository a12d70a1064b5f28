"""Whether vectors have length one."""

from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings

LENGTH_TOLERANCE = 1e-3
"""Half precision and short decimals, in which many services and files hold vectors, move a length by less."""


def have_length_one(vectors: Embeddings) -> bool:
    """Return whether every row has length one, as far as half precision can tell."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    return bool(np.all(np.abs(lengths - 1) <= LENGTH_TOLERANCE))
