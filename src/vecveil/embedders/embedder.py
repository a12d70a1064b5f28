"""Texts to vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import text_digest
from vecveil.embedders.fingerprint import Fingerprint


@runtime_checkable
class Embedder(Protocol):
    """Anything that turns texts into vectors and says which model it is.

    It may have an attribute `steady`, true where the vector of a text can't be changed by which others are asked for in
    the same call: then it is never asked for one text at a time for that reason. And it may have an attribute `pinned`,
    true where its fingerprint stands for its weights, so that a text is sure to have the same vector again; keyed noise
    then depends on what the model sees of the text, and otherwise on the vector as it came. A method `inputs` of such
    a one returns a digest of what it sees of each text: two texts that it can't tell apart must have the same, or who
    has the releases of both has two of one vector. Without it, a model is taken to see all of a text.
    """

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's identity."""
        ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        ...


def inputs_of(embedder: Embedder, texts: Sequence[str]) -> Sequence[bytes]:
    """Return a digest of what an embedder sees of each text: of all of it, where it doesn't say."""
    found: Callable[[Sequence[str]], Sequence[bytes]] | None = getattr(embedder, "inputs", None)
    return [text_digest(text) for text in texts] if found is None else found(texts)
