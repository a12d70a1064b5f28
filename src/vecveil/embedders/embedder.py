"""Texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from vecveil.core.arrays import Embeddings
from vecveil.embedders.fingerprint import Fingerprint


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors and says which model it is.

    It may have an attribute `steady`, true where the vector of a text can't be changed by which others are asked for in
    the same call: then it is never asked for one text at a time for that reason. And it may have an attribute `pinned`,
    true where its fingerprint stands for its weights, so that a text is sure to have the same vector again; keyed noise
    then depends on the text, and otherwise on the vector as it came.
    """

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's identity."""
        ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        ...
