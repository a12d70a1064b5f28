"""What utility is measured by: tasks, or without labels how good a search in the owner's own texts is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from vecveil.audit.corpus import AuditCorpus
from vecveil.audit.defences import Defence, Undefended
from vecveil.audit.encoding import DefendedEncoder, Memory
from vecveil.concepts import Passage
from vecveil.core.arrays import Embeddings, evenly
from vecveil.core.errors import InvalidInputError
from vecveil.core.search_quality import search_quality
from vecveil.shapes.apart import SEARCHED
from vecveil.utility import UtilityTask


class Yardstick(Protocol):
    """Something that says how useful vectors are, larger is better."""

    @property
    def label(self) -> str:
        """How tables name it."""
        ...

    def score(self, defence: Defence, rng: np.random.Generator) -> float:
        """Return how useful what `defence` lets out is."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class TaskYardstick:
    """The main score of a utility task."""

    task: UtilityTask
    embed: Memory

    @property
    def label(self) -> str:
        """The task's own label."""
        return self.task.label

    def score(self, defence: Defence, rng: np.random.Generator) -> float:
        """Return the score."""
        scores = self.task.score(DefendedEncoder(embed=self.embed, defence=defence, rng=rng))
        return float(scores.scores[scores.main])


@dataclass(frozen=True, kw_only=True, eq=False)
class SearchYardstick:
    """How near, apart from the concept, the texts are that a search for a text's neighbours finds.

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
    def on(cls, corpus: AuditCorpus) -> SearchYardstick:
        """Return the yardstick on texts with the concept and texts without it, taken evenly."""
        held = corpus.pair_passages[: len(corpus.pairs)]
        chosen = evenly(len(corpus.pairs), SEARCHED)
        others = [row for row, tokens in enumerate(corpus.tokens) if not tokens]
        plain = [others[number] for number in evenly(len(others), SEARCHED)]
        rest = corpus.clean[plain]
        return cls(
            passages=(*(held[pair] for pair in chosen), *(corpus.passages[row] for row in plain)),
            clean=np.concatenate([corpus.pairs.with_concept[chosen], rest]),
            reference=np.concatenate([corpus.pairs.without_concept[chosen], rest]),
        )

    def score(self, defence: Defence, rng: np.random.Generator) -> float:
        """Return the quality of the search."""
        return search_quality(self.reference, defence.release(self.passages, self.clean, rng))


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

    def kept(self, defence: Defence, rng: np.random.Generator) -> float:
        """Return the share of the utility of unprotected vectors that is left."""
        scores = (one.score(defence, rng) for one in self.yardsticks)
        return float(np.mean([score / full for score, full in zip(scores, self.undefended, strict=True)]))
