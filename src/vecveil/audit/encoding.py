"""The two views that a utility task has of a text: as embedded, and as released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from vecveil.audit.defences import Defence
from vecveil.concepts import Passage
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.veil.embedding import embed_texts


@dataclass(frozen=True, eq=False)
class Memory:
    """An embedder that asks the model once for each text of an audit; it keeps vectors in memory only."""

    embedder: Embedder
    progress: Progress = silent
    _known: dict[str, Embeddings] = field(default_factory=dict, repr=False)

    def __call__(self, texts: Sequence[str]) -> Embeddings:
        """Return the clean vectors of `texts`."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        if missing:
            vectors = self._embedded(missing)
            self._known.update(zip(missing, vectors, strict=True))
        if not texts:
            return np.zeros((0, self.embedder.fingerprint.dimensions), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])

    def _embedded(self, texts: list[str]) -> Embeddings:
        try:
            return embed_texts(self.embedder, texts, progress=self.progress)
        except InvalidRowError as error:
            # Each text is asked for once, with the concept, without it or from a task: no row of a file has its number.
            raise InvalidInputError(f"one of the texts to embed {error.problem}") from None


@dataclass(frozen=True, kw_only=True, eq=False)
class DefendedEncoder:
    """Clean and released vectors behind one defence, for utility tasks."""

    embed: Memory
    defence: Defence
    rng: np.random.Generator

    def clean(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors as the embedder makes them."""
        return self.embed(texts)

    def released(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors as the defence lets them out, with fresh noise."""
        return self.defence.release([Passage(text) for text in texts], self.embed(texts), self.rng)
