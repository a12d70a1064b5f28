"""Shapes that leave directions out, and how many can go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vecveil.accounting import GaussianLoss
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.evidence import Evidence, LabeledEmbeddings
from vecveil.shapes.search_quality import SEARCHED, ConceptFreeReference
from vecveil.shapes.shape import NoiseShape

CLOSE = 1e-3
"""Lengths that exceed a power of two by less than this, in octaves, are that power: vectors of length one are."""


def erase(directions: Matrix, *, center: Vector) -> NoiseShape:
    """Return the shape that releases nothing along `directions`, and the same noise along everything else.

    Args:
        directions: What is not released, as columns in the order of their weight; they need not be orthogonal.
        center: The public point that stands in for it.
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
    return NoiseShape(variances=variances, axes=axes, center=np.asarray(center, dtype=np.float64))


def most_directions(dimensions: int) -> int:
    """Return how many directions may be left out at most: half, or what is released is no longer the embedding."""
    return max(1, dimensions // 2)


def require_releasable(count: int, dimensions: int, *, given: str) -> None:
    """Raise unless so many directions may be left out; `given` says where the number comes from."""
    most = most_directions(dimensions)
    if count > most:
        raise InvalidInputError(f"of {dimensions} directions at most {most} can be left out, got {given}")


def corpus_center(corpus: LabeledEmbeddings) -> Vector:
    """Return the mean of the corpus, which stands in for what is left out."""
    return np.asarray(corpus.vectors.mean(axis=0, dtype=np.float64))


def release_center(
    shape: NoiseShape, corpus: LabeledEmbeddings, loss: GaussianLoss, rng: np.random.Generator
) -> NoiseShape:
    """Return the shape with the mean of the corpus as its center, released with Gaussian noise.

    Vectors are cut to a public length L, so that replacing one of n moves the mean by at most 2L/n. What follows is a
    function of the noisy mean alone, and free: it is drawn toward the origin as far as its noise goes (James and
    Stein), and rounded to what the noise leaves of it.

    Args:
        shape: What is released; one without a center stays as it is.
        corpus: The texts' vectors.
        loss: What the center may tell of one text.
        rng: Gives the key of the noise, which is secret if the generator's state is.
    """
    if shape.center is None:
        return shape
    vectors = np.asarray(corpus.vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    longest = 2.0 ** np.ceil(np.log2(np.median(lengths)) - CLOSE)
    mean = (vectors * np.minimum(1.0, longest / lengths)[:, np.newaxis]).mean(axis=0)
    moved = float(2 * longest / len(vectors))
    noisy = mean + loss.draw(rng, 1, shape.dimensions, sensitivity=moved)[0]
    deviation = loss.deviation(moved)
    kept = max(0.0, 1 - shape.dimensions * deviation**2 / float(noisy @ noisy))
    step = 2.0 ** np.floor(np.log2(deviation / 8))
    return replace(shape, center=np.rint(kept * noisy / step) * step)


def count_affordable(directions: Matrix, keep: float, evidence: Evidence) -> int:
    """Return how many of the first `directions` can go while search stays as good as `keep` says; 1 at least.

    How near texts are is measured without the concept: that two texts share a private word is not what a search should
    still find. It falls, but for wiggles, with the number of directions, so bisection finds the last that will do.
    """
    texts = ConceptFreeReference.from_evidence(evidence, most=SEARCHED)
    basis, _ = np.linalg.qr(directions)
    # To a length of about one, so that single precision holds what is left of any.
    vectors = texts.vectors / np.sqrt(np.vecdot(texts.vectors, texts.vectors).mean())
    coordinates = (vectors - vectors.mean(axis=0)) @ basis
    least = keep * texts.quality(vectors)
    low, high = 1, basis.shape[1] + 1
    while high - low > 1:
        middle = (low + high) // 2
        good = texts.quality(vectors - coordinates[:, :middle] @ basis[:, :middle].T) >= least
        low, high = (middle, high) if good else (low, middle)
    return low


def left_over(shape: NoiseShape, vectors: Embeddings) -> Matrix:
    """Return what a shape would release of `vectors` were there no noise: the center along unreleased axes."""
    clean = np.asarray(vectors, dtype=np.float64)
    gone = shape.unreleased_axes
    center = np.zeros(shape.dimensions) if shape.center is None else np.asarray(shape.center)
    return np.asarray(clean - ((clean - center) @ gone) @ gone.T)
