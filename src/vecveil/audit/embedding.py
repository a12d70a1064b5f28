"""Memoized embedding, and encoders for utility tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vecveil.audit.defenses import Defense
from vecveil.concepts import Passage
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.embedding import embed_texts


@dataclass(frozen=True, eq=False)
class MemoizedEmbedder:
    """An embedder that asks the model once for each text of an audit; it keeps vectors in memory only."""

    embedder: Embedder
    progress: Progress = silent
    _known: dict[str, Embeddings] = field(default_factory=dict, repr=False)

    def __call__(self, texts: Sequence[str]) -> Embeddings:
        """Return the clean vectors of `texts`."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        if missing:
            try:
                vectors = embed_texts(self.embedder, missing, progress=self.progress)
            except InvalidRowError as error:
                # Each text is asked for once, with the concept, without it or from a task: it is no row of a file.
                raise InvalidInputError(f"one of the texts to embed {error.problem}") from None
            self._known.update(zip(missing, vectors, strict=True))
        if not texts:
            return np.zeros((0, self.embedder.fingerprint.dimensions), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])


@dataclass(frozen=True, kw_only=True, eq=False)
class DefendedEncoder:
    """Clean and released vectors behind one defense, for utility tasks."""

    embed: MemoizedEmbedder
    defense: Defense
    rng: np.random.Generator

    def embed_clean(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors as the embedder makes them."""
        return self.embed(texts)

    def embed_released(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors as the defense lets them out, with fresh noise."""
        return self.defense.protect([Passage(text) for text in texts], self.embed(texts), self.rng)
