"""Who attacks the corpus that a veil is learned from, for learners that look through an attack."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vecveil.attacks import Attack, Sample
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes import DifferentiableAttack
from vecveil.veil.labelled import LabelledTexts

HELD_OUT = 0.15
"""Share of the texts, of those with the concept and of the others, that the attack is stopped by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusAttacker:
    """An attack that can be trained on any release of one corpus, as shape learners need it.

    Attributes:
        attack: How it learns.
        corpus: The texts, with what is private in them.
        held_out: Rows that it is stopped by and not trained on.
    """

    attack: Attack
    corpus: LabelledTexts
    held_out: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, attack: Attack, corpus: LabelledTexts, rng: np.random.Generator) -> CorpusAttacker:
        """Return the attacker on a corpus, of which `rng` chooses the rows that are held out."""
        sides = np.split(np.arange(len(corpus.texts)), [corpus.held])
        held = np.concatenate([rng.permutation(side)[: round(HELD_OUT * side.size)] for side in sides])
        return cls(attack=attack, corpus=corpus, held_out=tuple(held.tolist()))

    @property
    def vectors(self) -> Embeddings:
        """The clean vectors of the corpus."""
        return self.corpus.vectors

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        """The sensitive words of each text."""
        return self.corpus.words

    def train(
        self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent
    ) -> DifferentiableAttack:
        """Return the attack as trained on `vectors`, a release of the corpus."""
        sample = Sample(vectors=vectors, texts=self.corpus.texts, tokens=self.corpus.tokens)
        kept = np.setdiff1d(np.arange(len(sample)), self.held_out)
        trained = self.attack.train(sample.rows(kept), sample.rows(self.held_out), rng, progress=progress)
        if not isinstance(trained, DifferentiableAttack):
            raise InvalidInputError(
                f"a shape can't be learned through {type(self.attack).__name__}: what it trains has no network with "
                "one output per sensitive word; use the attack 'mlc'"
            )
        return trained
