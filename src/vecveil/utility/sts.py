"""Semantic textual similarity: the correlation of cosines with human scores."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.utility.task import Encoder, SidedTask, TaskScores, encode_side

SAME = 1e-12
"""Cosines that differ by less are equal, and tell nothing."""


@dataclass(frozen=True, kw_only=True)
class Sts(SidedTask):
    """Correlation of the cosine with scores, over pairs of texts.

    The main score is Pearson's, as in the paper's tables; MTEB's is Spearman's, and both are there.

    Attributes:
        first: One text of each pair, on the side of the queries.
        second: The other text, on the side of the documents.
        scores: How alike the two are, on any scale.
    """

    first: tuple[str, ...] = field(repr=False)
    second: tuple[str, ...] = field(repr=False)
    scores: tuple[float, ...] = field(repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not len(self.first) == len(self.second) == len(self.scores):
            raise InvalidInputError(
                f"texts and scores must match, got {len(self.first)}, {len(self.second)} and {len(self.scores)}"
            )
        odd = np.flatnonzero(~np.isfinite(self.scores))
        if odd.size:
            raise InvalidInputError(f"scores must be finite numbers, first other in row {odd[0]}")
        if len(set(self.scores)) < 2:
            raise InvalidInputError(
                f"a correlation needs pairs with different scores, got {len(self.scores)} with the same"
            )

    def score(self, encoder: Encoder) -> TaskScores:
        """Return Pearson's and Spearman's correlation."""
        first = encode_side(encoder, self.first, side="query", protected=self.protected)
        second = encode_side(encoder, self.second, side="document", protected=self.protected)
        pearson, spearman = _correlate(_pair_cosines(first, second), np.asarray(self.scores))
        return TaskScores(
            main="pearson",
            scores={"pearson": pearson, "spearman": spearman},
            protected=self.protected,
            cases=len(self.scores),
        )


def _pair_cosines(first: Embeddings, second: Embeddings) -> Vector:
    products = np.einsum("ij,ij->i", first, second, dtype=np.float64)
    return np.asarray(products / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)))


def _correlate(cosines: Vector, scores: Vector) -> tuple[float, float]:
    with needs_extra("scipy", "audit"):
        from scipy.stats import pearsonr, spearmanr
    # A defense that makes all vectors alike leaves no correlation to compute, and nothing to use.
    if np.ptp(cosines) < SAME:
        return 0.0, 0.0
    return float(pearsonr(cosines, scores).statistic), float(spearmanr(cosines, scores).statistic)
