"""Texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from vecveil.core.arrays import Embeddings
from vecveil.embedders.fingerprint import Fingerprint


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors and says which model it is."""

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's identity."""
        ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        ...
