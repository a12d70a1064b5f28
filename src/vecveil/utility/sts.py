"""Semantic textual similarity: does the cosine of two texts still follow what people said of them?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.utility.sides import vectors_of
from vecveil.utility.task import Encoder, Protected, TaskScores, task_label

SAME = 1e-12
"""Cosines that differ by less are equal, and tell nothing."""


@dataclass(frozen=True, kw_only=True)
class Sts:
    """Correlation of the cosine with scores, over pairs of texts.

    The main score is Pearson's, as in the paper's tables; MTEB's is Spearman's, and both are there.

    Attributes:
        first: One text of each pair; the query's side, where one side only is protected.
        second: The other text; the document's side.
        scores: How alike the two are, on any scale.
        protected: Which side is protected.
        source: Where the pairs are from, for the label.
    """

    first: tuple[str, ...] = field(repr=False)
    second: tuple[str, ...] = field(repr=False)
    scores: tuple[float, ...] = field(repr=False)
    protected: Protected = "both"
    source: str = ""

    def __post_init__(self) -> None:
        one_of(self.protected, get_args(Protected), "protected side")
        if not len(self.first) == len(self.second) == len(self.scores):
            raise InvalidInputError(
                f"texts and scores must match, got {len(self.first)}, {len(self.second)} and {len(self.scores)}"
            )
        if not np.isfinite(self.scores).all():
            raise InvalidInputError(f"scores must be finite numbers, first other in row {_first_odd(self.scores)}")
        if len(set(self.scores)) < 2:
            raise InvalidInputError(
                f"a correlation needs pairs with different scores, got {len(self.scores)} with the same"
            )

    @property
    def label(self) -> str:
        """How tables name the task."""
        return task_label("sts", source=self.source, protected=self.protected)

    def score(self, encoder: Encoder) -> TaskScores:
        """Return Pearson's and Spearman's correlation."""
        first = vectors_of(encoder, self.first, side="query", protected=self.protected)
        second = vectors_of(encoder, self.second, side="document", protected=self.protected)
        pearson, spearman = _correlations(_cosines(first, second), np.asarray(self.scores))
        return TaskScores(
            main="pearson",
            scores={"pearson": pearson, "spearman": spearman},
            protected=self.protected,
            cases=len(self.scores),
        )


def _cosines(first: Embeddings, second: Embeddings) -> Vector:
    products = np.einsum("ij,ij->i", first, second, dtype=np.float64)
    return np.asarray(products / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)))


def _correlations(cosines: Vector, scores: Vector) -> tuple[float, float]:
    try:
        from scipy.stats import pearsonr, spearmanr
    except ImportError:
        raise MissingExtraError("scipy", "audit") from None
    # A defence that makes all vectors alike leaves no correlation to compute, and nothing to use.
    if np.ptp(cosines) < SAME:
        return 0.0, 0.0
    return float(pearsonr(cosines, scores).statistic), float(spearmanr(cosines, scores).statistic)


def _first_odd(scores: tuple[float, ...]) -> int:
    return int(np.flatnonzero(~np.isfinite(scores))[0])
