"""The two sides of a search or of a pair, each with the vectors that it has."""

from __future__ import annotations

from collections.abc import Sequence

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.utility.task import Encoder, Protected, Side


def is_protected(side: Side, protected: Protected) -> bool:
    """Return whether the vectors of `side` are those that the defence lets out."""
    return protected in ("both", "queries" if side == "query" else "documents")


def vectors_of(encoder: Encoder, texts: Sequence[str], *, side: Side, protected: Protected) -> Embeddings:
    """Return one checked row per text: released where the side is protected, clean where it isn't."""
    encode = encoder.released if is_protected(side, protected) else encoder.clean
    vectors = embeddings(encode(texts), name=f"{side} vectors")
    if vectors.shape[0] != len(texts):
        raise InvalidInputError(f"{len(texts)} texts must give as many {side} vectors, got {vectors.shape[0]}")
    return vectors
