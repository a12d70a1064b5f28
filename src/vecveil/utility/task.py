"""What every utility task must do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from vecveil.core.arrays import Embeddings

Side = Literal["query", "document"]
Protected = Literal["both", "queries", "documents"]


class Encoder(Protocol):
    """Texts to vectors, before and after a defence. What is cached or drawn behind it is no business of a task."""

    def clean(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of `texts` as the embedder makes them."""
        ...

    def released(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of `texts` as the defence lets them out, with fresh noise at each call."""
        ...


@dataclass(frozen=True, kw_only=True)
class TaskScores:
    """What is left of a task.

    Attributes:
        main: Name of the score that stands for the task in plots.
        scores: Every score by name, larger is better.
        protected: Which side had been protected.
        cases: Number of queries, pairs or records behind the scores.
    """

    main: str
    scores: Mapping[str, float]
    protected: Protected
    cases: int


class UtilityTask(Protocol):
    """A use of vectors that can be scored. A dataclass: its fields are its data and what users may set."""

    @property
    def label(self) -> str:
        """How tables name the task."""
        ...

    def score(self, encoder: Encoder) -> TaskScores:
        """Return the scores with the vectors that `encoder` gives."""
        ...


def task_label(name: str, *, source: str = "", protected: Protected = "both") -> str:
    """Return a label such as "retrieval:fiqa (documents protected)"."""
    side = "" if protected == "both" else f" ({protected} protected)"
    return f"{name}:{source}{side}" if source else f"{name}{side}"
