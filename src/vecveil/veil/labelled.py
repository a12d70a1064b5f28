"""The corpus that a veil is learned from, with what is private in each text and every vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vecveil.concepts import Concept, ContrastSet, Passage, SensitiveToken, sensitive_tokens
from vecveil.core.arrays import Embeddings
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.shapes import ContrastPairs
from vecveil.veil.embedding import embed_texts


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTexts:
    """Texts with their sensitive tokens and their clean vectors: those with the concept first, then the others.

    Attributes:
        texts: The corpus.
        tokens: The sensitive tokens of each text.
        vectors: The clean vector of each text.
        held: How many of them hold the concept.
    """

    texts: tuple[str, ...] = field(repr=False)
    tokens: tuple[tuple[SensitiveToken, ...], ...] = field(repr=False)
    vectors: Embeddings = field(repr=False)
    held: int

    @classmethod
    def of(
        cls,
        concept: Concept,
        *,
        corpus: Sequence[Passage],
        contrast: ContrastSet,
        pairs: ContrastPairs,
        embedder: Embedder,
        progress: Progress = silent,
    ) -> LabelledTexts:
        """Return a corpus, of which the texts with the concept have been embedded already.

        Args:
            concept: What is private.
            corpus: Every text; blank ones are left out.
            contrast: Which of them hold the concept.
            pairs: The vectors of those.
            embedder: Makes the vectors of the others.
            progress: Told how far the embedding is.
        """
        known = set(contrast.rows)
        others = [passage for row, passage in enumerate(corpus) if row not in known and passage.text.strip()]
        passages = [*(corpus[row] for row in contrast.rows), *others]
        texts = tuple(passage.text for passage in passages)
        vectors = pairs.with_concept
        if others:
            rest = embed_texts(embedder, texts[len(pairs) :], label="embedding the other texts", progress=progress)
            vectors = np.concatenate([vectors, rest])
        found = concept.find_all(passages)
        return cls(
            texts=texts,
            tokens=tuple(sensitive_tokens(text, spans) for text, spans in zip(texts, found, strict=True)),
            vectors=vectors,
            held=len(pairs),
        )

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The sensitive words of each text."""
        return tuple(tuple(token.word for token in tokens) for tokens in self.tokens)
