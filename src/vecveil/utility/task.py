"""The contract of utility tasks, and the registry of tasks by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, Protocol, get_args

from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.checks import embeddings, one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry

Side = Literal["query", "document"]
Protected = Literal["both", "queries", "documents"]


class Encoder(Protocol):
    """Texts to vectors, before and after a defense."""

    def embed_clean(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of `texts` as the embedder makes them."""

    def embed_released(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of `texts` as the defense releases them, with fresh noise at each call."""


@dataclass(frozen=True, kw_only=True)
class TaskScores:
    """The scores of a task.

    Attributes:
        main: Name of the score that stands for the task in plots.
        scores: Every score by name, larger is better.
        protected: Which side was protected.
        cases: Number of queries, pairs or records behind the scores.
        error: Standard error of the main score, over cases; None where nobody has worked that out.
    """

    main: str
    scores: Mapping[str, float]
    protected: Protected
    cases: int
    error: float | None = None


class UtilityTask(Protocol):
    """A use of vectors that can be scored. A dataclass: its fields are its data and what users may set."""

    @property
    def label(self) -> str:
        """The name of the task in tables."""

    def score(self, encoder: Encoder) -> TaskScores:
        """Return the scores with the vectors that `encoder` gives."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SidedTask:
    """The base of tasks with two sides, queries and documents, that can be protected apart.

    Attributes:
        protected: Which side is protected.
        source: Where the data are from, for the label.
    """

    protected: Protected = "both"
    source: str = ""

    def __post_init__(self) -> None:
        one_of(self.protected, get_args(Protected), "protected side")

    @property
    def name(self) -> str:
        """The name of the task, without its data."""
        return type(self).__name__.lower()

    @property
    def label(self) -> str:
        """The name of the task in tables; with the side that is protected, where that is not the usual one."""
        usual = next(field.default for field in fields(self) if field.name == "protected")
        side = "" if self.protected == usual else f" ({self.protected} protected)"
        return f"{self.name}:{self.source}{side}" if self.source else f"{self.name}{side}"


def is_protected(side: Side, protected: Protected) -> bool:
    """Return whether the vectors of `side` are released ones."""
    return protected in ("both", "queries" if side == "query" else "documents")


def encode_side(encoder: Encoder, texts: Sequence[str], *, side: Side, protected: Protected) -> Embeddings:
    """Return one checked row per text: released where the side is protected, clean where it isn't."""
    encode = encoder.embed_released if is_protected(side, protected) else encoder.embed_clean
    vectors = embeddings(encode(texts), name=f"{side} vectors")
    if vectors.shape[0] != len(texts):
        raise InvalidInputError(f"{len(texts)} texts must give as many {side} vectors, got {vectors.shape[0]}")
    return vectors


def standard_error(values: Vector) -> float | None:
    """Return the standard error of a mean over cases; None for a single one."""
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else None


UTILITY_TASKS: Registry[type[UtilityTask]] = Registry(
    kind="utility task",
    builtin={
        "known-item": "vecveil.utility.known_item:KnownItem",
        "mteb": "vecveil.utility.mteb:Mteb",
        "neighbors": "vecveil.utility.neighbors:Neighbors",
        "queries": "vecveil.utility.queries:Queries",
        "retrieval": "vecveil.utility.retrieval:Retrieval",
        "sts": "vecveil.utility.sts:Sts",
    },
    group="vecveil.utility",
)
