"""Utility as one number: the share of a search kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from vecveil.audit.defenses import Defense, Undefended
from vecveil.audit.embedding import DefendedEncoder, MemoizedEmbedder
from vecveil.audit.result import RERANKED, UNNAMED
from vecveil.concepts import Passage
from vecveil.core.errors import InvalidInputError
from vecveil.utility import TaskScores, UtilityTask

Measure = Literal["search", "unnamed", "reranked"]

ENDINGS: Mapping[Measure, str] = {"search": "", "unnamed": UNNAMED, "reranked": RERANKED}
"""Endings of the scores that each measure goes by."""

CANDIDATES = (20, 30, 50, 100, 200, 500)
"""Numbers of candidates that are tried for reranking."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Utility:
    """Several tasks as one number: the mean share of what each says of unprotected vectors.

    Attributes:
        tasks: What is measured.
        embed: The embedder.
        known: Texts with what is annotated in them.
        measure: What counts: all searches, those that don't name the concept, or all after reranking. A task that has
            no such score counts by its main one.
    """

    tasks: Sequence[UtilityTask]
    embed: MemoizedEmbedder
    known: Mapping[str, Passage] = field(default_factory=dict, repr=False)
    measure: Measure = "search"

    @property
    def label(self) -> str:
        """How tables name it."""
        kind = {"search": "", "unnamed": ", concept not named", "reranked": ", reranked"}[self.measure]
        return ", ".join(task.label for task in self.tasks) + kind

    @cached_property
    def undefended(self) -> tuple[dict[Measure, float], ...]:
        """What each task says of unprotected vectors."""
        return self._scores(Undefended(), np.random.default_rng(0))

    @property
    def is_measurable(self) -> bool:
        """Whether unprotected vectors are good for anything."""
        return all(found[self.measure] > 0 for found in self.undefended)

    def shares(self, defense: Defense, rng: np.random.Generator) -> dict[Measure, float]:
        """Return the share of what unprotected vectors have that is left, by every measure."""
        for task, full in zip(self.tasks, self.undefended, strict=True):
            if not full[self.measure] > 0:
                raise InvalidInputError(
                    f"{task.label} gives unprotected vectors {full[self.measure]:.3g}: there is no utility to keep a "
                    "share of"
                )
        pairs = list(zip(self._scores(defense, rng), self.undefended, strict=True))
        return {
            measure: float(np.mean([found[measure] / full[measure] if full[measure] else 1.0 for found, full in pairs]))
            for measure in ENDINGS
        }

    def share_kept(self, defense: Defense, rng: np.random.Generator) -> float:
        """Return the share of the utility of unprotected vectors that is left."""
        return self._quick.shares(defense, rng)[self.measure]

    def find_candidates(self, defense: Defense, level: float, seed: int) -> int | None:
        """Return how many candidates the owner must rerank to keep a level of all searches; None where none is enough.

        Tasks that can't rerank don't count.
        """
        known: list[Any] = [task for task in self.tasks if hasattr(task, "rerank")]
        for candidates in CANDIDATES if known else ():
            tasks = [replace(task, rerank=candidates) for task in known]
            utility = replace(self, tasks=tasks, measure="reranked")
            if utility.is_measurable and utility.share_kept(defense, np.random.default_rng(seed)) >= level:
                return candidates
        return None

    @cached_property
    def _quick(self) -> Utility:
        """The same without what is not asked for: reranking takes most of the time."""
        if self.measure == "reranked":
            return self
        tasks: Sequence[Any] = self.tasks
        return replace(self, tasks=[replace(task, rerank=0) if hasattr(task, "rerank") else task for task in tasks])

    def _scores(self, defense: Defense, rng: np.random.Generator) -> tuple[dict[Measure, float], ...]:
        encoder = DefendedEncoder(embed=self.embed, defense=defense, rng=rng, known=self.known)
        return tuple(_pick_scores(task.score(encoder)) for task in self.tasks)


def _pick_scores(scores: TaskScores) -> dict[Measure, float]:
    main = scores.scores[scores.main]

    def pick(ending: str) -> float:
        return next((value for name, value in scores.scores.items() if name.startswith(scores.main + ending)), main)

    return {measure: pick(ending) if ending else main for measure, ending in ENDINGS.items()}
