"""How many directions can be left out before a search suffers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.search_quality import Similarities
from vecveil.shapes.apart import SEARCHED, apart_from_concept
from vecveil.shapes.corpus import WordedVectors
from vecveil.shapes.pairs import ContrastPairs

ROUNDING = np.float32(1e-6)
"""Share of a squared length below which what is left of it is rounding."""


def affordable(directions: Matrix, keep: float, corpus: WordedVectors, pairs: ContrastPairs) -> int:
    """Return how many of the first `directions` can go while search stays as good as `keep` says; 1 at least.

    How near texts are is measured without the concept: that two texts share a private word is not what a search should
    still find. It falls, but for wiggles, with the number of directions, so bisection finds the last that will do.
    """
    apart = apart_from_concept(corpus, pairs, most=SEARCHED)
    clean = apart.quality(apart.vectors)
    basis, _ = np.linalg.qr(directions)
    without = LeftOut(apart.vectors, basis)
    return _last(lambda count: apart.quality.by(without.similarities(count)) >= keep * clean, basis.shape[1])


class LeftOut:
    """Vectors without their first coordinates along some axes, less those of their mean, as a search sees them.

    With p a vector's coordinates and m those of the mean, the product of what is left of two of them is
    x·x′ - p·p′ - p·m - p′·m: a few numbers of each vector tell it, and what all have of it is looked at once.
    """

    def __init__(self, vectors: Embeddings, basis: Matrix) -> None:
        # To a length of about one, so that products fit into single precision.
        vectors = vectors / np.sqrt(np.vecdot(vectors, vectors).mean())
        centre, single = vectors.mean(axis=0), np.asarray(vectors, dtype=np.float32)
        self._products = single @ single.T
        self._coordinates = np.asarray((vectors - centre) @ basis, dtype=np.float32)
        self._centre = np.asarray(centre @ basis, dtype=np.float32)

    def similarities(self, count: int) -> Similarities:
        """Return how near others are to each vector by cosine, up to a factor of its own, where `count` are gone."""
        gone = np.ascontiguousarray(self._coordinates[:, :count])
        shifts = gone @ self._centre[:count]
        whole = np.diagonal(self._products)
        squares = np.maximum(whole - np.vecdot(gone, gone) - 2 * shifts, ROUNDING * whole)
        shares = 1 / np.sqrt(squares)

        def near(rows: slice) -> NDArray[np.float32]:
            found = self._products[rows] - gone[rows] @ gone.T
            found -= shifts
            found -= shifts[rows, np.newaxis]
            found *= shares
            return found

        return near


def _last(good: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` that is good; 1 where none is."""
    low, high = 1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low
