from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.axis_loops import TILE, correct, place

RNG = np.random.default_rng(0)
AXES = np.linalg.qr(RNG.standard_normal((37, 37)))[0]


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 8, 23])
@pytest.mark.parametrize("count", [TILE, 3 * TILE])
def test_rows_move_by_their_moves_and_by_factors_of_their_coordinates(rows: int, count: int) -> None:
    axes, factors = np.ascontiguousarray(AXES[:count]), RNG.uniform(-1, 2, count)
    vectors, moves = RNG.standard_normal((rows, 37)), RNG.standard_normal((rows, count))
    expected = vectors + (moves + vectors @ axes.T * factors) @ axes
    correct(vectors, axes, factors, moves)
    np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("columns", [5, 37, 384, 768])
def test_a_row_ends_at_the_same_bits_wherever_it_stands(columns: int) -> None:
    """Keyed noise is the same again in any batch."""
    axes, factors = RNG.standard_normal((2 * TILE, columns)), RNG.uniform(-1, 2, 2 * TILE)
    vectors, moves = RNG.standard_normal((11, columns)), RNG.standard_normal((11, 2 * TILE))
    together = vectors.copy()
    correct(together, axes, factors, moves.copy())
    for first in range(11):
        for count in (1, 2, 5):
            part = vectors[first : first + count].copy()
            correct(part, axes, factors, moves[first : first + count].copy())
            np.testing.assert_array_equal(part, together[first : first + count])


@pytest.mark.parametrize("rows", [1, 6])
def test_a_factor_of_minus_one_brings_coordinates_to_the_moves_and_leaves_others(rows: int) -> None:
    axes, wanted = np.ascontiguousarray(AXES[:TILE]), RNG.standard_normal((rows, TILE))
    vectors = RNG.standard_normal((rows, 37))
    held = vectors.copy()
    correct(held, axes, np.full(TILE, -1.0), wanted.copy())
    np.testing.assert_allclose(held @ axes.T, wanted, rtol=0, atol=1e-14)
    np.testing.assert_allclose(held @ AXES[TILE:].T, vectors @ AXES[TILE:].T, rtol=0, atol=1e-13)


def test_axes_of_zeros_and_further_columns_change_nothing() -> None:
    axes = np.zeros((2 * TILE, 37))
    axes[: TILE + 1] = AXES[: TILE + 1]
    wide, factors = RNG.standard_normal((7, 40)), np.full(2 * TILE, 0.5)
    expected = wide.copy()
    expected[:, :37] += 0.5 * expected[:, :37] @ axes.T @ axes
    correct(wide, axes, factors, np.zeros((7, 2 * TILE)))
    np.testing.assert_allclose(wide, expected, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(wide[:, 37:], expected[:, 37:])


def test_a_centre_has_noise_of_the_last_normals_and_zeros_behind_it() -> None:
    centre, normals = np.array([1.0, -2.0, 3.0]), RNG.standard_normal((5, 10))
    placed = np.full((5, TILE), np.nan)
    place(centre, normals, 0.25, placed)
    np.testing.assert_array_equal(placed[:, :3], centre + 0.25 * normals[:, 7:])
    np.testing.assert_array_equal(placed[:, 3], 0)
