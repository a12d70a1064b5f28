"""Estimates of what a release leaves out: free post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector, frozen
from vecveil.core.checks import point, positive
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.concept_free_reference import SEARCHED, ConceptFreeReference
from vecveil.shapes.erasure import left_over
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.shape import NoiseShape

USUAL_NOISE = 0.3
"""Noise ratio for which an estimator is fitted; it serves others nearly as well."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MissingAxesEstimator:
    """A public linear map that estimates unreleased coordinates from released ones.

    Texts have their coordinates in common with each other in the same ways, so what is released tells something of
    what is not: on average, not of the record. As a function of the release alone it costs no privacy, and attackers
    can apply it themselves. Search gains, since the gap is not the same in all texts.

    Attributes:
        reads: One column per estimate: its weights on a released vector, less the center.
        writes: One row per estimate: the direction along which it is written.
        center: The point that stands for an average text.
    """

    reads: Matrix
    writes: Matrix
    center: Vector

    def __post_init__(self) -> None:
        for name in ("reads", "writes"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        if self.reads.ndim != 2 or self.reads.shape != self.writes.shape[::-1]:
            raise InvalidInputError(
                f"an estimator reads and writes the same numbers, got shapes {self.reads.shape} and {self.writes.shape}"
            )
        object.__setattr__(self, "center", point(self.center, self.reads.shape[0], "center of the estimator"))

    def fill(self, released: Embeddings) -> Matrix:
        """Return `released` with estimates along the axes that are missing."""
        return np.asarray(released + (released @ self.reads - self._usual) @ self.writes)

    @cached_property
    def _usual(self) -> Vector:
        """What is read from an average text."""
        return np.asarray(self.center @ self.reads)


def fit_estimator(shape: NoiseShape, vectors: Embeddings, *, noise: float = USUAL_NOISE) -> MissingAxesEstimator | None:
    """Return the best linear estimator for a corpus, or None where every axis is released.

    It is the Wiener filter, applied along the unreleased axes alone: along the released ones it would shrink what
    texts differ in least, which search needs as much as the rest.

    Args:
        shape: What is released.
        vectors: Clean vectors of the corpus.
        noise: Length of the noise over that of a vector.
    """
    positive(noise, "noise")
    unreleased = ~np.isfinite(shape.variances)
    if not unreleased.any():
        return None
    clean = np.asarray(vectors, dtype=np.float64)
    center = clean.mean(axis=0) if shape.center is None else np.asarray(shape.center)
    axes = np.eye(shape.dimensions) if shape.axes is None else np.asarray(shape.axes)
    kept, gone = axes[:, ~unreleased], axes[:, unreleased]
    centered = clean - center
    seen, hidden = centered @ kept, centered @ gone
    variances = shape.variances[~unreleased]
    level = noise**2 * float((clean**2).sum(axis=1).mean()) / float(variances.sum())
    spread = seen.T @ seen / len(clean) + level * np.diag(variances)
    weights = np.linalg.solve(spread, seen.T @ hidden / len(clean))
    return MissingAxesEstimator(reads=kept @ weights, writes=gone.T, center=center)


def fit_helpful_estimator(shape: NoiseShape, evidence: Evidence) -> MissingAxesEstimator | None:
    """Return the estimator for a corpus where search in it, apart from the concept, is the better for it; else None."""
    if np.isfinite(shape.variances).all():
        return None
    estimator = fit_estimator(shape, evidence.corpus.vectors)
    texts = ConceptFreeReference.from_evidence(evidence, most=SEARCHED)
    left = left_over(shape, texts.vectors)
    return estimator if estimator and texts.quality(estimator.fill(left)) > texts.quality(left) else None
