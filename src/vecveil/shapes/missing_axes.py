"""Estimates of what a release leaves out: free post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector, frozen
from vecveil.core.checks import positive
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.concept_free_reference import SEARCHED, ConceptFreeReference
from vecveil.shapes.erasure import left_over
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.shape import NoiseShape

USUAL_NOISE = 0.3
"""Noise ratio for which an estimator is fitted; it serves others nearly as well."""

LARGEST_WEIGHT = 1e4
"""Of an estimator. Estimates are made before the grid rounds: much larger ones would show the noise's lowest bits."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MissingAxesEstimator:
    """A public linear map that estimates unreleased coordinates from released ones.

    Texts have their coordinates in common with each other in the same ways, so what is released tells something of
    what is not: on average, not of the record. As a function of the release alone it costs no privacy, and attackers
    can apply it themselves. Search gains, since the gap is not the same in all texts.

    Attributes:
        shape: Which axes are missing, and the center, which stands for an average text.
        reads: One column per missing axis: its weights on a released vector, less the center, in half precision.
    """

    shape: NoiseShape
    reads: Matrix

    def __post_init__(self) -> None:
        # More digits than an estimate needs would tell more of the texts.
        with np.errstate(over="ignore"):
            object.__setattr__(self, "reads", frozen(np.asarray(self.reads, dtype=np.float16)))
        expected = self.shape.dimensions, self.shape.dimensions - self.shape.released
        if self.reads.shape != expected or not np.abs(self.reads).max(initial=0.0) <= LARGEST_WEIGHT:
            raise InvalidInputError(
                f"an estimator has {expected} finite weights up to {LARGEST_WEIGHT:g}, got shape {self.reads.shape}"
            )

    def fill(self, released: Embeddings) -> Matrix:
        """Return `released` with estimates along the axes that are missing."""
        return np.asarray(released + (released @ self.reads - self._usual) @ self.shape.unreleased_axes.T)

    @cached_property
    def _usual(self) -> Vector | float:
        """What is read from an average text."""
        return 0.0 if self.shape.center is None else np.asarray(self.shape.center @ self.reads)


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
    centered = clean if shape.center is None else clean - shape.center
    axes = np.eye(shape.dimensions) if shape.axes is None else np.asarray(shape.axes)
    kept = axes[:, ~unreleased]
    seen, hidden = centered @ kept, centered @ shape.unreleased_axes
    variances = shape.variances[~unreleased]
    level = noise**2 * float((clean**2).sum(axis=1).mean()) / float(variances.sum())
    spread = seen.T @ seen / len(clean) + level * np.diag(variances)
    weights = np.linalg.solve(spread, seen.T @ hidden / len(clean))
    return MissingAxesEstimator(shape=shape, reads=kept @ weights)


def fit_helpful_estimator(shape: NoiseShape, evidence: Evidence) -> MissingAxesEstimator | None:
    """Return the estimator for a corpus where search in it, apart from the concept, is the better for it; else None."""
    if np.isfinite(shape.variances).all():
        return None
    estimator = fit_estimator(shape, evidence.corpus.vectors)
    texts = ConceptFreeReference.from_evidence(evidence, most=SEARCHED)
    left = left_over(shape, texts.vectors)
    return estimator if estimator and texts.quality(estimator.fill(left)) > texts.quality(left) else None
