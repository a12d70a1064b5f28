"""The loops that move rows along a few axes. Loading them takes a moment, so whoever needs them loads them late.

A library of matrix products makes one product of all rows, writes it to memory and reads it again. Here four rows at a
time are looked at and moved while they are near, and the sums for four axes of each stay in the processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.compiled import NUMBER, compiled, read, written

TILE = 4
"""Rows, and axes, that are worked on together."""


@njit(inline="always")
def _look(rows: Any, axes: Any, factors: Any, moves: Any) -> None:
    """Add to the moves of four rows what four factors make of their coordinates."""
    row_0, row_1, row_2, row_3 = rows[0], rows[1], rows[2], rows[3]
    axis_0, axis_1, axis_2, axis_3 = axes[0], axes[1], axes[2], axes[3]
    a_0 = a_1 = a_2 = a_3 = b_0 = b_1 = b_2 = b_3 = 0.0
    c_0 = c_1 = c_2 = c_3 = d_0 = d_1 = d_2 = d_3 = 0.0
    for column in range(axes.shape[1]):
        a, b, c, d = row_0[column], row_1[column], row_2[column], row_3[column]
        along = axis_0[column]
        a_0, b_0, c_0, d_0 = a_0 + a * along, b_0 + b * along, c_0 + c * along, d_0 + d * along
        along = axis_1[column]
        a_1, b_1, c_1, d_1 = a_1 + a * along, b_1 + b * along, c_1 + c * along, d_1 + d * along
        along = axis_2[column]
        a_2, b_2, c_2, d_2 = a_2 + a * along, b_2 + b * along, c_2 + c * along, d_2 + d * along
        along = axis_3[column]
        a_3, b_3, c_3, d_3 = a_3 + a * along, b_3 + b * along, c_3 + c * along, d_3 + d * along
    found = (a_0, a_1, a_2, a_3), (b_0, b_1, b_2, b_3), (c_0, c_1, c_2, c_3), (d_0, d_1, d_2, d_3)
    for row in range(TILE):
        for axis in range(TILE):
            moves[row, axis] += factors[axis] * found[row][axis]


@njit(inline="always")
def _move(rows: Any, axes: Any, moves: Any) -> None:
    """Move four rows along four axes."""
    row_0, row_1, row_2, row_3 = rows[0], rows[1], rows[2], rows[3]
    axis_0, axis_1, axis_2, axis_3 = axes[0], axes[1], axes[2], axes[3]
    a_0, a_1, a_2, a_3 = moves[0, 0], moves[0, 1], moves[0, 2], moves[0, 3]
    b_0, b_1, b_2, b_3 = moves[1, 0], moves[1, 1], moves[1, 2], moves[1, 3]
    c_0, c_1, c_2, c_3 = moves[2, 0], moves[2, 1], moves[2, 2], moves[2, 3]
    d_0, d_1, d_2, d_3 = moves[3, 0], moves[3, 1], moves[3, 2], moves[3, 3]
    for column in range(axes.shape[1]):
        x_0, x_1, x_2, x_3 = axis_0[column], axis_1[column], axis_2[column], axis_3[column]
        row_0[column] += a_0 * x_0 + a_1 * x_1 + a_2 * x_2 + a_3 * x_3
        row_1[column] += b_0 * x_0 + b_1 * x_1 + b_2 * x_2 + b_3 * x_3
        row_2[column] += c_0 * x_0 + c_1 * x_1 + c_2 * x_2 + c_3 * x_3
        row_3[column] += d_0 * x_0 + d_1 * x_1 + d_2 * x_2 + d_3 * x_3


@compiled(types.void(written(NUMBER, 2), read(NUMBER, 2), read(NUMBER, 1), written(NUMBER, 2)), sums_in_any_order=True)
def correct(vectors: Matrix, axes: Matrix, factors: Vector, moves: Matrix) -> None:
    """Move each row along some axes: by moves of its own, and by so many times what it is along each.

    What becomes of a row doesn't depend on the others, nor on its place among them, to the last bit.

    Args:
        vectors: The rows, of which as many columns count as the axes have.
        axes: Orthonormal rows; some at the end may be zero, so that there are four, or eight, and so on.
        factors: One for each axis.
        moves: For each row and axis; overwritten.
    """
    rows, columns = vectors.shape[0], axes.shape[1]
    last, last_moves = np.zeros((TILE, columns)), np.zeros((TILE, axes.shape[0]))
    for row in range(0, rows, TILE):
        four, of_four = vectors[row : row + TILE], moves[row : row + TILE]
        there = min(TILE, rows - row)
        if there < TILE:
            # They have company of zeros: another loop would add up in another order.
            last[:there], last_moves[:there] = four[:, :columns], of_four
            four, of_four = last, last_moves
        # At right angles, axes don't see moves along others: four are done with while they are near.
        for axis in range(0, axes.shape[0], TILE):
            part = slice(axis, axis + TILE)
            _look(four, axes[part], factors[part], of_four[:, part])
            _move(four, axes[part], of_four[:, part])
        if there < TILE:
            vectors[row:, :columns] = last[:there]


@compiled(types.void(read(NUMBER, 1), read(NUMBER, 2), NUMBER, written(NUMBER, 2)))
def place(centre: Vector, normals: Matrix, deviation: float, placed: Matrix) -> None:
    """Write the centre with noise of one deviation, from the last normals of each row, and zeros behind it."""
    size = centre.shape[0]
    first = normals.shape[1] - size
    for row in range(placed.shape[0]):
        for column in range(size):
            placed[row, column] = centre[column] + deviation * normals[row, first + column]
        for column in range(size, placed.shape[1]):
            placed[row, column] = 0.0
