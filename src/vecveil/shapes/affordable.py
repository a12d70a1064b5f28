"""How many directions can be left out before a search suffers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.search_quality import search_quality
from vecveil.shapes.corpus import WordedVectors
from vecveil.shapes.pairs import ContrastPairs

SEARCHED = 1500
"""Texts, with the concept and without it each, in which the quality of a search is measured at most."""


def affordable(directions: Matrix, keep: float, corpus: WordedVectors, pairs: ContrastPairs) -> int:
    """Return how many of the first `directions` can go while search stays as good as `keep` says; 1 at least.

    How near texts are is measured without the concept: that two texts share a private word is not what a search should
    still find. It falls, but for wiggles, with the number of directions, so bisection finds the last that will do.
    """
    reference, searched = search_sample(corpus, pairs)
    clean = search_quality(reference, searched)

    def good(count: int) -> bool:
        basis, _ = np.linalg.qr(directions[:, :count])
        centred = searched - searched.mean(axis=0)
        left = searched - (centred @ basis) @ basis.T
        return search_quality(reference, left) >= keep * clean

    return _last(good, directions.shape[1])


def _last(good: Callable[[int], bool], most: int) -> int:
    """Return the largest number up to `most` that is good; 1 where none is."""
    low, high = 1, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


def search_sample(corpus: WordedVectors, pairs: ContrastPairs) -> tuple[Embeddings, Embeddings]:
    """Return the vectors of some texts without the concept, and the vectors that the same texts really have."""
    held = _evenly(len(pairs))
    others = np.array([row for row, words in enumerate(corpus.words) if not words], dtype=np.intp)
    others = others[_evenly(others.size)]
    plain = corpus.vectors[others]
    without, with_concept = (
        np.asarray(side[held], dtype=np.float64) for side in (pairs.without_concept, pairs.with_concept)
    )
    return np.concatenate([without, plain]), np.concatenate([with_concept, plain])


def _evenly(rows: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, max(rows - 1, 0), min(rows, SEARCHED)).astype(np.intp))
