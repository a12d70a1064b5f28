"""Who attacks the corpus that a veil is learned from, for learners that look through an attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from vecveil.attacks import Attack, Sample
from vecveil.concepts import Concept, ContrastSet, Passage, SensitiveToken, sensitive_tokens
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder
from vecveil.shapes import ContrastPairs, DifferentiableAttack
from vecveil.veil.embedding import embed_texts

HELD_OUT = 0.15
"""Share of the texts, of those with the concept and of the others, that the attack is stopped by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusAttacker:
    """An attack that can be trained on any release of one corpus, as shape learners need it.

    Attributes:
        attack: How it learns.
        texts: The corpus.
        tokens: The sensitive tokens of each text.
        vectors: The clean vector of each text.
        held_out: Rows that it is stopped by and not trained on.
    """

    attack: Attack
    texts: tuple[str, ...] = field(repr=False)
    tokens: tuple[tuple[SensitiveToken, ...], ...] = field(repr=False)
    vectors: Embeddings = field(repr=False)
    held_out: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        attack: Attack,
        concept: Concept,
        *,
        corpus: Sequence[Passage],
        contrast: ContrastSet,
        pairs: ContrastPairs,
        embedder: Embedder,
        rng: np.random.Generator,
        progress: Progress = silent,
    ) -> CorpusAttacker:
        """Return the attacker on a corpus, of which the texts with the concept have been embedded already.

        Args:
            attack: How it learns.
            concept: What it looks for.
            corpus: Every text; blank ones are left out.
            contrast: Which of them hold the concept.
            pairs: The vectors of those.
            embedder: Makes the vectors of the others.
            rng: Chooses the rows that are held out.
            progress: Told how far the embedding is.
        """
        known = set(contrast.rows)
        others = [passage for row, passage in enumerate(corpus) if row not in known and passage.text.strip()]
        passages = [*(corpus[row] for row in contrast.rows), *others]
        texts = tuple(passage.text for passage in passages)
        rest = embed_texts(embedder, texts[len(pairs) :], label="embedding the other texts", progress=progress)
        found = concept.find_all(passages)
        sides = np.split(np.arange(len(texts)), [len(pairs)])
        held = np.concatenate([rng.permutation(side)[: round(HELD_OUT * side.size)] for side in sides])
        return cls(
            attack=attack,
            texts=texts,
            tokens=tuple(sensitive_tokens(text, spans) for text, spans in zip(texts, found, strict=True)),
            vectors=np.concatenate([pairs.with_concept, rest]),
            held_out=tuple(held.tolist()),
        )

    @cached_property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The sensitive words of each text."""
        return tuple(tuple(token.word for token in tokens) for tokens in self.tokens)

    def train(
        self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent
    ) -> DifferentiableAttack:
        """Return the attack as trained on `vectors`, a release of the corpus."""
        sample = Sample(vectors=vectors, texts=self.texts, tokens=self.tokens)
        kept = np.setdiff1d(np.arange(len(sample)), self.held_out)
        trained = self.attack.train(sample.rows(kept), sample.rows(self.held_out), rng, progress=progress)
        if not isinstance(trained, DifferentiableAttack):
            raise InvalidInputError(
                f"a shape can't be learned through {type(self.attack).__name__}: what it trains has no network with "
                "one output per sensitive word; use the attack 'mlc'"
            )
        return trained
