"""Memoized models and concepts, and encoders for utility tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from vecveil.audit.defenses import Defense
from vecveil.concepts import Concept, Passage
from vecveil.concepts.passage import Spans
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder, Fingerprint
from vecveil.veil.embedding import embed_texts


@dataclass(frozen=True, eq=False)
class MemoizedEmbedder:
    """An embedder that asks the model once for each text of an audit; it keeps vectors in memory only."""

    embedder: Embedder
    progress: Progress = silent
    _known: dict[str, Embeddings] = field(default_factory=dict, repr=False)

    @property
    def fingerprint(self) -> Fingerprint:
        """The model's identity."""
        return self.embedder.fingerprint

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the clean vectors of `texts`."""
        return self(texts)

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


@dataclass(frozen=True, eq=False)
class MemoizedConcept(Concept):
    """A concept that searches each text of an audit once; it keeps spans in memory only."""

    kind: ClassVar[str] = "memoized"

    concept: Concept
    _found: dict[Passage, tuple[Spans, Spans]] = field(default_factory=dict, repr=False)

    @property
    def expected(self) -> tuple[str, ...]:
        """The labels that the concept is meant to find."""
        return self.concept.expected

    @property
    def everywhere(self) -> bool:
        """Whether every text may hold it."""
        return self.concept.everywhere

    @property
    def reads_annotations(self) -> bool:
        """Whether it finds what comes with a text alone."""
        return self.concept.reads_annotations

    def candidates(self) -> dict[str, tuple[str, ...]]:
        """Return the words that the concept lists, by label."""
        return self.concept.candidates()

    def find_all(self, passages: Sequence[Passage]) -> list[Spans]:
        """Return the spans of each passage."""
        return self.search(passages)[0]

    def search(self, passages: Sequence[Passage]) -> tuple[list[Spans], list[Spans]]:
        """Return the spans of each passage, and those that a contrast takes out."""
        missing = list(dict.fromkeys(passage for passage in passages if passage not in self._found))
        if missing:
            self._found.update(zip(missing, zip(*self.concept.search(missing), strict=True), strict=True))
        known = [self._found[passage] for passage in passages]
        return [found for found, _ in known], [taken_out for _, taken_out in known]

    def summary(self) -> Mapping[str, Any]:
        """Return the summary of the concept."""
        return self.concept.summary()

    def settings(self) -> dict[str, Any]:
        """Return the settings of the concept."""
        return self.concept.settings()


@dataclass(frozen=True, kw_only=True, eq=False)
class DefendedEncoder:
    """Clean and released vectors behind one defense, for utility tasks.

    Attributes:
        embed: The embedder.
        defense: What lets vectors out.
        rng: Makes its noise.
        known: Texts with what is annotated in them, of which a task knows nothing.
    """

    embed: MemoizedEmbedder
    defense: Defense
    rng: np.random.Generator
    known: Mapping[str, Passage] = field(default_factory=dict, repr=False)

    def embed_clean(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors as the embedder makes them."""
        return self.embed(texts)

    def embed_released(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors as the defense lets them out, with fresh noise."""
        passages = [self.known.get(text, Passage(text)) for text in texts]
        return self.defense.protect(passages, self.embed(texts), self.rng)
