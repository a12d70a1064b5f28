"""The loops between the matrix products of a mask's training. Loading them takes a moment, so it is done late."""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from vecveil.core.arrays import Singles
from vecveil.core.compiled import COUNT, compiled, read, written

_NUMBER = types.float32
_ZERO = np.float32(0)

KEEP_FIRST, KEEP_SECOND = 0.9, 0.999
"""What Adam keeps of its means of gradients and of their squares at each step."""

_KEEP_FIRST, _KEEP_SECOND = np.float32(KEEP_FIRST), np.float32(KEEP_SECOND)
_NEW_FIRST, _NEW_SECOND = np.float32(1 - KEEP_FIRST), np.float32(1 - KEEP_SECOND)

_FADED = np.float32(1e-30)
"""A mean of gradients that is as good as zero."""

_TINY = np.float32(1e-8)
"""What Adam adds to a root before it divides by it."""


@compiled(types.void(read(_NUMBER, 3), read(COUNT, 1), read(_NUMBER, 1), written(_NUMBER, 2)))
def fetch(samples: Singles, pairs: NDArray[np.int64], mask: Singles, masked: Singles) -> None:
    """Write both samples of some pairs behind a mask, one below the other."""
    for place in range(pairs.shape[0]):
        for side in range(2):
            # As arrays of their own, of which the compiler sees that they go in step.
            sample, row = samples[pairs[place], side], masked[2 * place + side]
            for column in range(mask.shape[0]):
                row[column] = sample[column] * mask[column]


@compiled(types.void(written(_NUMBER, 2), read(_NUMBER, 1)))
def rectify(values: Singles, biases: Singles) -> None:
    """Add each column's bias, and bring what is below zero to zero."""
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            values[row, column] = max(values[row, column] + biases[column], _ZERO)


@compiled(types.void(written(_NUMBER, 2), read(_NUMBER, 2), written(_NUMBER, 1)))
def cut(errors: Singles, before: Singles, sums: Singles) -> None:
    """Bring errors to zero where the layer before let nothing through, and write the sum of each column."""
    sums[:] = _ZERO
    for row in range(errors.shape[0]):
        for column in range(errors.shape[1]):
            error = errors[row, column] if before[row, column] > _ZERO else _ZERO
            errors[row, column] = error
            sums[column] += error


@compiled(types.void(read(_NUMBER, 2), read(_NUMBER, 2), read(_NUMBER, 1), written(_NUMBER, 1)), sums_in_any_order=True)
def find_by_mask(weights: Singles, gradients: Singles, mask: Singles, by_mask: Singles) -> None:
    """Write the gradients of the mask, from those of the weights behind it; zero for closed gates, which don't move."""
    for column in range(weights.shape[0]):
        total = _ZERO
        for unit in range(weights.shape[1]):
            total += weights[column, unit] * gradients[column, unit]
        by_mask[column] = total / mask[column] if mask[column] > _ZERO else _ZERO


@compiled(types.void(written(_NUMBER, 1), read(_NUMBER, 1), written(_NUMBER, 2), _NUMBER, _NUMBER))
def adam(values: Singles, gradients: Singles, means: Singles, rate: float, stretch: float) -> None:
    """Make one step of Adam.

    Args:
        values: What is learned.
        gradients: Its gradients.
        means: Their means so far, and those of their squares.
        rate: Length of a step, over the share of all gradients that the means have seen.
        stretch: One over the root of that share for the squares.
    """
    first, second = means[0], means[1]
    for place in range(values.shape[0]):
        gradient = gradients[place]
        mean = _KEEP_FIRST * first[place] + _NEW_FIRST * gradient
        square = _KEEP_SECOND * second[place] + _NEW_SECOND * gradient * gradient
        # What fades away must not stay as the smallest of all numbers, with which processors are slow.
        mean = mean if abs(mean) > _FADED else _ZERO
        first[place], second[place] = mean, square
        values[place] -= rate * mean / (math.sqrt(square) * stretch + _TINY)
