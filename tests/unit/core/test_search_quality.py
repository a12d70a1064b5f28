from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.core.search_quality import SearchQuality, search_quality


def _texts(rows: int = 300) -> Matrix:
    return np.random.default_rng(2).standard_normal((rows, 16))


def test_a_search_in_the_reference_itself_is_as_good_as_can_be() -> None:
    assert search_quality(_texts(), _texts()) == pytest.approx(1)
    # Cosines take no notice of lengths.
    assert search_quality(_texts(), 5 * _texts()) == pytest.approx(1)


def test_a_search_in_shuffled_rows_finds_nothing() -> None:
    shuffled = np.random.default_rng(3).permutation(_texts())
    assert search_quality(_texts(), shuffled) == pytest.approx(0, abs=0.05)


def test_the_noisier_the_rows_the_worse_the_search() -> None:
    noise = np.random.default_rng(4).standard_normal((300, 16))
    qualities = [search_quality(_texts(), _texts() + size * noise) for size in (0.1, 0.5, 2.0)]
    assert 1 > qualities[0] > qualities[1] > qualities[2] > 0


@pytest.mark.parametrize("rows", [11, 3])
def test_a_search_needs_more_rows_than_it_returns(rows: int) -> None:
    with pytest.raises(InvalidInputError, match=f"needs more rows than that, got {rows}"):
        search_quality(_texts(rows), _texts(rows))


def test_a_search_needs_the_same_rows_on_both_sides() -> None:
    with pytest.raises(InvalidInputError, match="got 30 and 29"):
        search_quality(_texts(30), _texts(29))


def test_a_search_finds_what_looking_at_every_row_would() -> None:
    reference = _texts()
    searched = reference + np.random.default_rng(7).standard_normal(reference.shape)

    def cosines(vectors: Matrix) -> Matrix:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors @ vectors.T / (lengths * lengths.T)

    near, found = cosines(reference), cosines(searched)
    others = ~np.eye(len(near), dtype=bool)
    reached, best = (
        np.mean(
            [near[row][sorted(np.flatnonzero(others[row]), key=lambda at: -by[row, at])[:10]] for row in range(300)]
        )
        for by in (found, near)
    )
    usual = near[others].mean()
    assert search_quality(reference, searched) == pytest.approx((reached - usual) / (best - usual), abs=1e-5)


def test_rows_that_are_all_as_near_as_each_other_lose_nothing() -> None:
    assert search_quality(np.ones((20, 4)), _texts(20)[:, :4]) == 1.0


def test_a_search_may_go_by_numbers_of_its_own() -> None:
    reference = _texts(40).astype(np.float32)
    quality = SearchQuality(reference, neighbors=3)
    squares = (reference**2).sum(axis=1)

    def nearest(rows: slice) -> Matrix:
        return np.asarray(2 * reference[rows] @ reference.T - squares)

    assert quality.by(lambda rows: -nearest(rows)) < 0 < quality.by(nearest) < 1
