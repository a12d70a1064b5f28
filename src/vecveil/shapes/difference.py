"""Noise along the directions in which the concept moves vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.checks import fraction, one_of, positive
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.shapes.evidence import ContrastPairs, Evidence
from vecveil.shapes.learner import FittedShape, ShapeLearner
from vecveil.shapes.shape import NoiseShape, Normalization, variances_from_weights

Cost = Literal["none", "corpus"]


@dataclass(frozen=True, kw_only=True)
class Difference(ShapeLearner):
    """Give a direction the more noise the further the concept moves vectors along it.

    With C the second moment of the differences between a text and itself without the concept, Σ ∝ C^½ makes the mean
    squared Mahalanobis length of a concept change as small as noise of its length can. With a cost W of noise it is
    Σ ∝ W^-½ (W^½ C W^½)^½ W^-½ that does so for its cost tr(ΣW). Both are proved in docs/shape-proofs.md, for a floor
    of zero; the floor adds the same noise along every axis.

    Attributes:
        cost: What noise costs: `none` counts it alike along every direction; `corpus` counts it by how much the texts
            of the corpus differ there, which is how much it disturbs their similarities.
        ridge: Added to the variance of every direction of the corpus where `cost` is `corpus`, over the mean variance:
            noise where texts hardly differ is cheap, but not free.
        normalize: How weights become variances.
        floor: Smallest variance (the paper's δ).
    """

    cost: Cost = "none"
    ridge: float = 0.1
    normalize: Normalization = "trace"
    floor: float = 0.1

    def __post_init__(self) -> None:
        one_of(self.cost, get_args(Cost), "cost")
        positive(self.ridge, "ridge")
        one_of(self.normalize, get_args(Normalization), "normalization")
        fraction(self.floor, "floor")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape, with how few directions the concept moves vectors along."""
        moment = second_moment(evidence.pairs)
        sizes, axes = principal_axes(moment)
        weights = np.sqrt(sizes)
        if self.cost == "corpus":
            weights, axes = principal_axes(weigh_by_cost(moment, _cost(evidence.corpus.vectors, ridge=self.ridge)))
        variances = variances_from_weights(weights, normalize=self.normalize, floor=self.floor)
        facts = {
            "top_tenth_share": float(sizes[: max(1, sizes.size // 10)].sum() / sizes.sum()),
            "effective_directions": effective_directions(sizes),
        }
        return FittedShape(shape=NoiseShape(variances=variances, axes=axes), facts=facts)


def second_moment(pairs: ContrastPairs) -> Matrix:
    """Return C, the mean of d dᵀ over the differences d that the concept makes."""
    differences = np.asarray(pairs.with_concept, dtype=np.float64) - pairs.without_concept
    if not differences.any():
        raise InvalidInputError(f"the concept moves none of {len(pairs)} vectors, so nothing can be learned from them")
    return np.asarray(differences.T @ differences / len(pairs))


def principal_axes(matrix: Matrix) -> tuple[Vector, Matrix]:
    """Return the eigenvalues of a symmetric matrix without negative ones, largest first, and their eigenvectors."""
    values, columns = np.linalg.eigh((matrix + matrix.T) / 2)
    # What should be zero comes out as a rounding error of either sign.
    return np.maximum(values[::-1], 0), np.asarray(columns[:, ::-1])


def effective_directions(sizes: Vector) -> float:
    """Return how many directions of equal size would be as spread out as `sizes` are: their participation ratio."""
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def weigh_by_cost(moment: Matrix, cost: Matrix) -> Matrix:
    """Return W^-½ (W^½ C W^½)^½ W^-½, for a moment C and a cost W that has an inverse."""
    root, inverse = _power(cost, 0.5), _power(cost, -0.5)
    return np.asarray(inverse @ _power(root @ moment @ root, 0.5) @ inverse)


def _cost(vectors: Embeddings, *, ridge: float) -> Matrix:
    centered = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    covariance = centered.T @ centered / len(centered)
    level = float(np.trace(covariance)) / len(covariance)
    if level <= 0:
        raise InvalidInputError("all vectors of the corpus are the same, so they say nothing about the cost of noise")
    return np.asarray(covariance + ridge * level * np.eye(len(covariance)))


def _power(matrix: Matrix, exponent: float) -> Matrix:
    sizes, axes = principal_axes(matrix)
    return np.asarray((axes * sizes**exponent) @ axes.T)
