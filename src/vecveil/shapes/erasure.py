"""Shapes that leave directions out: what lies along them is not released, and noise goes to the rest."""

from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.corpus import WordedVectors
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.shape import NoiseShape


def erasing(directions: Matrix, *, centre: Vector) -> NoiseShape:
    """Return the shape that releases nothing along `directions`, and the same noise along everything else.

    Args:
        directions: What is not released, as columns in the order of their weight; they need not be orthogonal.
        centre: The public point that stands in for it.
    """
    dimensions, count = directions.shape
    if not 0 < count < dimensions:
        raise InvalidInputError(f"between 1 and {dimensions - 1} directions can be left out, got {count}")
    # The first columns of the complete Q span the directions, the others everything that is orthogonal to them.
    axes, triangle = np.linalg.qr(np.asarray(directions, dtype=np.float64), mode="complete")
    sizes = np.abs(np.diag(triangle))
    if sizes.min() <= 1e-9 * sizes.max():
        raise InvalidInputError(f"the {count} directions to leave out are not independent of each other")
    variances = np.ones(dimensions)
    variances[:count] = np.inf
    return NoiseShape(variances=variances, axes=axes, centre=np.asarray(centre, dtype=np.float64))


def most_directions(dimensions: int) -> int:
    """Return how many directions may be left out at most: half, or what is released is no longer the embedding."""
    return max(1, dimensions // 2)


def required(corpus: WordedVectors | None, pairs: ContrastPairs, shape: str) -> WordedVectors:
    """Return the corpus that a learner needs, or raise where there is none or it is of other vectors."""
    if corpus is None:
        raise InvalidInputError(f"the shape {shape!r} reads the whole corpus, got contrast pairs alone")
    if corpus.vectors.shape[1] != pairs.dimensions:
        raise InvalidInputError(
            f"the vectors of the corpus must have {pairs.dimensions} dimensions, got {corpus.vectors.shape[1]}"
        )
    return corpus


def left_over(shape: NoiseShape, vectors: Embeddings) -> Matrix:
    """Return what a shape would release of `vectors` were there no noise: the centre along unreleased axes."""
    clean = np.asarray(vectors, dtype=np.float64)
    axes = np.eye(shape.dimensions) if shape.axes is None else np.asarray(shape.axes)
    gone = axes[:, ~np.isfinite(shape.variances)]
    centre = np.zeros(shape.dimensions) if shape.centre is None else np.asarray(shape.centre)
    return np.asarray(clean - ((clean - centre) @ gone) @ gone.T)
