"""Utility as one number, by tasks or by search without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defenses import Defense, Undefended
from vecveil.audit.embedding import DefendedEncoder, MemoizedEmbedder
from vecveil.concepts import Passage
from vecveil.core.arrays import Embeddings, spread_rows
from vecveil.core.errors import InvalidInputError
from vecveil.core.search_quality import search_quality
from vecveil.shapes.concept_free_reference import SEARCHED
from vecveil.utility import UtilityTask


class Yardstick(Protocol):
    """Something that says how useful vectors are, larger is better."""

    @property
    def label(self) -> str:
        """How tables name it."""
        ...

    def score(self, defense: Defense, rng: np.random.Generator) -> float:
        """Return how useful what `defense` lets out is."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskYardstick:
    """The main score of a utility task."""

    task: UtilityTask
    embed: MemoizedEmbedder

    @property
    def label(self) -> str:
        """The task's own label."""
        return self.task.label

    def score(self, defense: Defense, rng: np.random.Generator) -> float:
        """Return the score."""
        scores = self.task.score(DefendedEncoder(embed=self.embed, defense=defense, rng=rng))
        return float(scores.scores[scores.main])


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchYardstick:
    """How near, apart from the concept, the texts are that a search for a text's neighbors finds.

    Attributes:
        passages: Some of the owner's texts.
        clean: Their vectors.
        reference: The vectors of the same texts without the concept.
    """

    passages: tuple[Passage, ...]
    clean: Embeddings
    reference: Embeddings

    label: str = "search apart from the concept"

    @classmethod
    def from_corpus(cls, corpus: AuditCorpus) -> SearchYardstick:
        """Return the yardstick on texts with the concept and texts without it, taken evenly."""
        held = corpus.pair_passages[: len(corpus.pairs)]
        chosen = spread_rows(len(corpus.pairs), SEARCHED)
        others = [row for row, tokens in enumerate(corpus.tokens) if not tokens]
        plain = [others[number] for number in spread_rows(len(others), SEARCHED)]
        rest = corpus.clean[plain]
        return cls(
            passages=(*(held[pair] for pair in chosen), *(corpus.passages[row] for row in plain)),
            clean=np.concatenate([corpus.pairs.with_concept[chosen], rest]),
            reference=np.concatenate([corpus.pairs.without_concept[chosen], rest]),
        )

    def score(self, defense: Defense, rng: np.random.Generator) -> float:
        """Return the quality of the search."""
        return search_quality(self.reference, defense.protect(self.passages, self.clean, rng))


@dataclass(frozen=True, eq=False)
class Utility:
    """Several yardsticks as one number: the mean share of what each says of unprotected vectors."""

    yardsticks: Sequence[Yardstick]

    @property
    def label(self) -> str:
        """How tables name it."""
        return ", ".join(yardstick.label for yardstick in self.yardsticks)

    @cached_property
    def undefended(self) -> tuple[float, ...]:
        """What each says of unprotected vectors."""
        scores = tuple(one.score(Undefended(), np.random.default_rng(0)) for one in self.yardsticks)
        for yardstick, score in zip(self.yardsticks, scores, strict=True):
            if not score > 0:
                raise InvalidInputError(
                    f"{yardstick.label} gives unprotected vectors {score:.3g}: there is no utility to keep a share of"
                )
        return scores

    def share_kept(self, defense: Defense, rng: np.random.Generator) -> float:
        """Return the share of the utility of unprotected vectors that is left."""
        scores = (one.score(defense, rng) for one in self.yardsticks)
        return float(np.mean([score / full for score, full in zip(scores, self.undefended, strict=True)]))
