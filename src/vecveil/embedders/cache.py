"""Embeddings kept on disk, so that a text goes through a model once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import text_digest
from vecveil.core.errors import InvalidInputError
from vecveil.embedders.embedder import Embedder, inputs_of
from vecveil.embedders.fingerprint import Fingerprint
from vecveil.embedders.texts import checked_texts
from vecveil.embedders.vector_file import VectorFile

CHUNK = 512
"""Texts that are embedded and then kept together: what a stopped run has to do again, at most."""


@dataclass(frozen=True)
class CachedEmbedder:
    """An embedder that remembers.

    **The cache is as sensitive as the texts.** It holds clean embeddings, and those can be inverted to the texts; it
    also holds unsalted digests, from which a guessed text can be confirmed. That is why nothing is cached unless you
    ask for it. Keep the folder where you would keep the texts, and delete it with them.

    Attributes:
        embedder: Makes the vectors that are not known yet.
        folder: Where to keep them: one file per fingerprint, readable by its owner only. Processes may share it.
    """

    embedder: Embedder
    folder: Path

    @property
    def fingerprint(self) -> Fingerprint:
        """The identity of the embedder behind the cache."""
        return self.embedder.fingerprint

    @property
    def steady(self) -> bool:
        """Whether the embedder behind the cache is."""
        return bool(getattr(self.embedder, "steady", False))

    @property
    def pinned(self) -> bool:
        """Whether the embedder behind the cache is."""
        return bool(getattr(self.embedder, "pinned", False))

    def inputs(self, texts: Sequence[str]) -> Sequence[bytes]:
        """Return a digest of what the embedder behind the cache sees of each text."""
        return inputs_of(self.embedder, texts)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order, embedding only what the cache does not know.

        Raises:
            ArtifactError: If the cache's file is broken; the message names it.
        """
        rows = checked_texts(texts)
        keys = [text_digest(text) for text in rows]
        fingerprint = self.fingerprint
        file = VectorFile(path=Path(self.folder) / f"{fingerprint.digest()}.sqlite", dimensions=fingerprint.dimensions)
        known = file.read(list(dict.fromkeys(keys)))
        missing = list({key: text for key, text in zip(keys, rows, strict=True) if key not in known}.items())
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            vectors = self._embedded([text for _, text in chunk], fingerprint.dimensions)
            file.write([key for key, _ in chunk], vectors)
            known.update(zip((key for key, _ in chunk), vectors, strict=True))
        result = np.empty((len(rows), fingerprint.dimensions), dtype=np.float32)
        for row, key in enumerate(keys):
            result[row] = known[key]
        return result

    def _embedded(self, texts: list[str], dimensions: int) -> Embeddings:
        vectors = self.embedder.embed(texts)
        # What is kept wrong once is wrong for good, so an embedder that breaks its contract is stopped here.
        if vectors.shape != (len(texts), dimensions):
            raise InvalidInputError(f"the embedder must return shape {(len(texts), dimensions)}, got {vectors.shape}")
        return vectors
