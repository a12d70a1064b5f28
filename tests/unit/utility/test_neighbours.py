from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.utility import NeighboursKept

CLEAN = np.random.default_rng(0).standard_normal((300, 16))


def test_unchanged_vectors_keep_every_neighbour() -> None:
    assert NeighboursKept().score(CLEAN, CLEAN) == 1.0


def test_lengths_do_not_matter() -> None:
    lengths = np.random.default_rng(1).uniform(0.1, 9, (300, 1))
    assert NeighboursKept().score(CLEAN, CLEAN * lengths) == 1.0


def test_unrelated_vectors_keep_what_chance_leaves() -> None:
    other = np.random.default_rng(2).standard_normal((300, 16))
    assert NeighboursKept().score(CLEAN, other) == pytest.approx(10 / 299, abs=0.015)


def test_clean_queries_keep_more_than_noisy_ones() -> None:
    noisy = CLEAN + np.random.default_rng(3).standard_normal(CLEAN.shape)
    task = NeighboursKept()
    assert task.score(CLEAN, noisy, queries=CLEAN) > task.score(CLEAN, noisy) + 0.05


def test_a_row_is_not_its_own_neighbour() -> None:
    far = np.eye(4) + 0.01 * np.arange(16).reshape(4, 4)
    assert NeighboursKept(neighbours=3).score(far, far[::-1].copy()) == 1.0


def test_fewer_rows_than_neighbours_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="10 neighbours need more rows than that, got 10"):
        NeighboursKept().score(CLEAN[:10], CLEAN[:10])
    with pytest.raises(InvalidInputError, match="rows must match"):
        NeighboursKept().score(CLEAN, CLEAN[:100])
