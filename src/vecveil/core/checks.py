"""Checks of input; each names the thing and shows the value."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector, frozen
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.core.texts import strip_controls

SMALLEST_BUDGET, LARGEST_BUDGET = 1e-12, 1e12
"""Beyond these the noise overflows single precision, or drowns in its rounding, at any number of dimensions."""

SHORTEST = 1e-30
"""A vector none of whose coordinates reaches this is a zero vector."""

LONGEST = 1e30
"""Beyond this, and below one over it, squares of lengths and variances leave single precision."""

ROUNDED, EXACT = 1e-6, 1e-12
"""Most that AᵀA may differ from 1 for axes in single precision, and for axes in double precision."""


def positive(value: object, name: str) -> float:
    """Return `value` as a float, or raise unless it is a finite number above zero."""
    number = _number(value, name)
    if not math.isfinite(number) or number <= 0:
        raise InvalidInputError(f"{name} must be a finite number above zero, got {value!r}")
    return number


def budget(epsilon: object) -> float:
    """Return `epsilon` as a float, or raise unless it is a number above zero whose noise fits into numbers."""
    number = positive(epsilon, "epsilon")
    if not SMALLEST_BUDGET <= number <= LARGEST_BUDGET:
        raise InvalidInputError(f"epsilon must be between {SMALLEST_BUDGET:g} and {LARGEST_BUDGET:g}, got {epsilon!r}")
    return number


def magnitude(value: object, name: str) -> float:
    """Return `value` as a float, or raise unless it is a number above zero that can be squared."""
    number = positive(value, name)
    if not 1 / LONGEST <= number <= LONGEST:
        raise InvalidInputError(f"{name} must be between {1 / LONGEST:g} and {LONGEST:g}, got {value!r}")
    return number


def not_negative(value: object, name: str) -> float:
    """Return `value` as a float, or raise unless it is a finite number of at least zero."""
    number = _number(value, name)
    if not math.isfinite(number) or number < 0:
        raise InvalidInputError(f"{name} must be a finite number of at least zero, got {value!r}")
    return number


def at_least(value: int, smallest: int, name: str) -> int:
    """Return `value`, or raise unless it is a whole number of at least `smallest`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
        raise InvalidInputError(f"{name} must be a whole number of at least {smallest}, got {value!r}")
    return value


def widths(hidden: object) -> tuple[int, ...]:
    """Return the widths of hidden layers, or raise unless they are whole numbers in a list: JSON has no tuples."""
    if not isinstance(hidden, list | tuple):
        raise InvalidInputError(f"hidden must be a list of widths, got {hidden!r}")
    return tuple(at_least(width, 1, "each width of hidden") for width in hidden)


def fraction(value: object, name: str) -> float:
    """Return `value` as a float, or raise unless it lies strictly between zero and one."""
    number = _number(value, name)
    if not 0 < number < 1:
        raise InvalidInputError(f"{name} must lie between 0 and 1, got {value!r}")
    return number


def one_line(value: object, name: str) -> str:
    """Return `value`, or raise unless it is text in one line, without control characters."""
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be text, got {type(value).__name__}")
    if {*"\t\n"} & {*value} or strip_controls(value) != value:
        raise InvalidInputError(f"{name} must be one line without control characters, got {value!r}")
    return value


def one_of(value: str, known: Collection[str], kind: str) -> str:
    """Return `value`, or raise with the nearest guess unless it is one of `known`."""
    if value not in known:
        raise UnknownNameError(kind, value, known)
    return value


def embeddings(values: Any, *, dimensions: int | None = None, name: str = "vectors", first_row: int = 0) -> Embeddings:
    """Return `values` as a two-dimensional float array without NaN, infinite or zero rows.

    Args:
        values: Anything NumPy can read as one row per text.
        dimensions: The number of columns it must have; any number where None.
        name: What to call it in an error.
        first_row: Number of the first row in an error, for values that are a part of something larger.

    Raises:
        InvalidInputError: With the number of the first row at fault, never with its content.
    """
    array = rows_of(values, dimensions=dimensions, name=name)
    # A sum of squares is NaN or infinite whenever an entry is, and tiny where all are, so that the slow look is only
    # taken when something is wrong, or so large or small that its square is no number.
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = np.vecdot(array, array)
    if squares.size and not (squares.min() > array.shape[1] * SHORTEST**2 and squares.max() < np.inf):
        _require_numbers(array, name, first_row)
    return array


def rows_of(values: Any, *, dimensions: int | None = None, name: str = "vectors") -> Embeddings:
    """Return `values` as a two-dimensional float array; what is in it is not looked at."""
    array = _float_array(values, name)
    if array.ndim != 2:
        raise InvalidInputError(f"{name} must have two dimensions (rows, columns), got shape {array.shape}")
    if dimensions is not None and array.shape[1] != dimensions:
        raise InvalidInputError(f"{name} must have {dimensions} dimensions, got {array.shape[1]}")
    if array.shape[1] == 0:
        raise InvalidInputError(f"{name} must have at least one dimension, got shape {array.shape}")
    return array


def variances(values: Any, name: str = "variances") -> Vector:
    """Return `values` as a read-only array of one number per axis, above zero and not all infinite."""
    array: Vector = frozen(values)
    if array.ndim != 1 or array.size == 0:
        raise InvalidInputError(f"{name} must be one number per axis, got shape {array.shape}")
    if np.isnan(array).any() or not (array > 0).all():
        raise InvalidInputError(f"{name} must be above zero, got a smallest of {np.min(array)!r}")
    released = array[np.isfinite(array)]
    if not released.size:
        raise InvalidInputError("at least one axis must be released, got only infinite variances")
    for extreme in (released.min(), released.max()):
        magnitude(float(extreme), name)
    return array


def point(values: Any, dimensions: int, name: str) -> Vector:
    """Return `values` as a read-only array of `dimensions` finite numbers."""
    array: Vector = frozen(values)
    if array.shape != (dimensions,) or not np.isfinite(array).all():
        raise InvalidInputError(f"{name} must be {dimensions} finite numbers, got shape {array.shape}")
    return array


def orthonormal(axes: Matrix, dimensions: int, name: str = "axes") -> Matrix:
    """Return `axes`, or raise unless its columns are `dimensions` vectors of length one at right angles.

    Those that are so to single precision come back so to double precision: noise may be 10⁶ times as wide along one
    axis as along another, and what is hidden by the wide must not show along the narrow.
    """
    if axes.shape != (dimensions, dimensions):
        raise InvalidInputError(f"{name} must have shape {(dimensions, dimensions)}, got {axes.shape}")
    with np.errstate(all="ignore"):
        excess = axes.T @ axes - np.eye(dimensions)
        off = np.abs(excess).max()
    if not off <= ROUNDED:
        raise InvalidInputError(f"{name} must be orthonormal columns, but they are not to six digits")
    # Newton's step for the polar factor: what is left of the excess is its square.
    return axes if off <= EXACT else frozen(axes - axes @ excess / 2)


def _require_numbers(array: Embeddings, name: str, first_row: int) -> None:
    broken = ~np.isfinite(array).all(axis=1)
    if broken.any():
        row = first_row + int(np.flatnonzero(broken)[0])
        raise InvalidInputError(f"{name} hold NaN or infinite numbers, first in row {row}")
    # Directions of vectors this short are rounding errors.
    zero = np.abs(array).max(axis=1) < SHORTEST
    if zero.any():
        raise InvalidInputError(f"{name} hold a zero vector, first in row {first_row + int(np.flatnonzero(zero)[0])}")


def _float_array(values: Any, name: str) -> Embeddings:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidInputError(f"{name} must be rows of equal length: {error}") from None
    if array.dtype == np.float16 or array.dtype.kind in "iu":
        return array.astype(np.float32)
    if array.dtype.kind != "f":
        raise InvalidInputError(f"{name} must be numbers, got dtype {array.dtype}")
    # Beyond doubles, numbers may be too large for one, and are infinite then.
    return array.astype(np.float64) if array.dtype.itemsize > np.dtype(np.float64).itemsize else array


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidInputError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise InvalidInputError(f"{name} must be a finite number, got one that is too large") from None
