"""How many directions can be left out before a search suffers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vecveil.core.arrays import Matrix
from vecveil.shapes.apart import SEARCHED, apart_from_concept
from vecveil.shapes.corpus import WordedVectors
from vecveil.shapes.pairs import ContrastPairs


def affordable(directions: Matrix, keep: float, corpus: WordedVectors, pairs: ContrastPairs) -> int:
    """Return how many of the first `directions` can go while search stays as good as `keep` says; 1 at least.

    How near texts are is measured without the concept: that two texts share a private word is not what a search should
    still find. It falls, but for wiggles, with the number of directions, so bisection finds the last that will do.
    """
    apart = apart_from_concept(corpus, pairs, most=SEARCHED)
    searched, clean = apart.vectors, apart.quality(apart.vectors)

    def good(count: int) -> bool:
        basis, _ = np.linalg.qr(directions[:, :count])
        centred = searched - searched.mean(axis=0)
        left = searched - (centred @ basis) @ basis.T
        return apart.quality(left) >= keep * clean

    return _last(good, directions.shape[1])


def _last(good: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` that is good; 1 where none is."""
    low, high = 1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low
