"""The loops that noise is made by. Loading them takes a second, so whoever needs them loads them late.

NumPy goes over all numbers once for each step of a formula. Here a number takes all steps at once, with others beside
it, in less than half the time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.compiled import COUNT, INPUTS, NUMBER, WORD, compiled, read, written

Words = NDArray[np.uint64]

_ONE = 0x3FF0000000000000
_ROOT_HALF = 0x3FE6A09E667F3BCD
"""The bits of 1 and of √½."""

_LOG_TWO = 0.6931471805599453

_MANY = 0x4330000000000000
"""The bits of 2^52: with others in its last places, it is more by that many."""

_SQUARES = (1e-200, 1e200)
"""Sums of squares between these have all their digits."""

_ASIDE = 1e-3
"""A part of a sum that is larger than this share can be had by taking off the others, at the cost of few digits."""

_TINY = 1e-90
"""A cube root that is as good as zero, and whose cube is still a number."""


def _read_as(given: Any, taken: Any) -> Any:
    """Return what reads the bits of a value of the one type as one of the other."""

    def read_as(context: Any, value: Any) -> Any:
        """Return the value's type, and how to read it."""
        del context, value
        return given(taken), lambda context, builder, _, values: builder.bitcast(
            values[0], context.get_value_type(given)
        )

    return intrinsic(read_as)


_bits, _number = _read_as(WORD, NUMBER), _read_as(NUMBER, WORD)


@njit(inline="always")
def _between_one_and_two(word: Any) -> Any:
    """Return a number between 1 and 2 that reaches neither, in steps of 2^-51."""
    # The upper bits become the digits of a number whose exponent is zero and whose last digit is odd.
    return _number((word >> np.uint64(12)) | np.uint64(_ONE + 1))


@njit(inline="always")
def _log(number: Any) -> Any:
    """Return the natural logarithm of a number above 10^-300, right to some units in the last place.

    The number is 2^k times one from √½ to √2, whose logarithm is that of (1 + s)/(1 - s), a series in s.
    """
    moved = _bits(number) + np.uint64(_ONE - _ROOT_HALF)
    k = _number((moved >> np.uint64(52)) | np.uint64(_MANY)) - (2.0**52 + 1023.0)
    rest = _number((moved & np.uint64(2**52 - 1)) + np.uint64(_ROOT_HALF))
    s = (rest - 1.0) / (rest + 1.0)
    z = s * s
    # Found by `experiments/normals.py`.
    series = (0.1461644968504340586 * z + 0.15331721600556041269) * z + 0.1818288912526172208
    series = ((series * z + 0.22222211134795079855) * z + 0.28571428625975484921) * z + 0.3999999999989950449
    series = series * z + 0.66666666666666696862
    return k * _LOG_TWO + (2.0 * s + s * z * series)


@njit(inline="always")
def _two_normals(distance: Any, angle: Any) -> Any:
    """Return two independent standard normals, by the method of Box and Muller.

    One word gives their distance r from the origin, the other their angle. With a/b the tangent of a quarter of the
    angle from the other side, its cosine is 8(ab)²/(a² + b²)² - 1 and its sine 4ab(a² - b²)/(a² + b²)².
    """
    # 2 - u lies between 0 and 1, so that the distance is never zero: a direction is taken.
    r = math.sqrt(-2.0 * _log(2.0 - _between_one_and_two(distance)))
    x = _between_one_and_two(angle) - 1.5
    z = x * x
    # Found by `experiments/normals.py`.
    a = x * (((z - 151.95768956421954802) * z + 2815.6496921624209453) * z - 8895.4550278242293912)
    b = (17.732312008597382745 * z - 804.8573905399667091) * z + 6450.1476270497493612
    b = b * z - 5663.0225549195177707
    product, above, below = a * b, a * a, b * b
    share = 4.0 * r / ((above + below) * (above + below))
    return 2.0 * share * product * product - r, share * product * (above - below)


@compiled(types.void(read(WORD, 2), WORD, written(WORD, 1)))
def number_blocks(starts: Words, first: int, numbers: Words) -> None:
    """Write the numbers of each row's blocks, from block `first` on, two words for each."""
    blocks = numbers.shape[0] // (2 * starts.shape[0])
    for row in range(starts.shape[0]):
        begin, rest = starts[row, 0] + first, starts[row, 1]
        mine = numbers[2 * row * blocks : 2 * (row + 1) * blocks]
        for block in range(blocks):
            # A sum that runs over goes on at zero, and no two blocks of a row have the same number for that.
            mine[2 * block] = begin + np.uint64(block)
            mine[2 * block + 1] = rest


@compiled(types.void(read(WORD, 2), written(NUMBER, 2), written(NUMBER, 2)))
def fill_normals(words: Words, normals: Matrix, spare: Matrix) -> None:
    """Write independent standard normals for each row, and one more for each pair of words that is left.

    A pair is made of a word in the first half of the row and one in the second.
    """
    half, width = words.shape[1] // 2, normals.shape[1]
    right = width // 2
    left = width - right
    for row in range(words.shape[0]):
        # As arrays of their own, of which the compiler sees that they go in step.
        distances, angles = words[row, :half], words[row, half:]
        cosines, sines = normals[row, :left], normals[row, left:]
        for pair in range(right):
            cosine, sine = _two_normals(distances[pair], angles[pair])
            cosines[pair] = cosine
            sines[pair] = sine
        if left > right:
            cosines[right] = _two_normals(distances[right], angles[right])[0]
        for pair in range(left, half):
            spare[row, pair - left] = _two_normals(distances[pair], angles[pair])[0]


@compiled(COUNT(read(NUMBER, 2), NUMBER, written(NUMBER, 1), written(NUMBER, 1)))
def try_gammas(normals: Matrix, base: float, numbers: Vector, slack: Vector) -> int:
    """Write numbers, which are of the Gamma law if those without slack above zero are refused; return how many are.

    It is the method of Marsaglia and Tsang. The cube of a normal is nearly of that law; the squares of this one and of
    two others, which make the logarithm of a uniform number, say whether it may be taken.

    Args:
        normals: Three standard normals for each row.
        base: The law's power, less a third.
        numbers: Where the numbers go.
        slack: By how much each one's test was passed, where it was.
    """
    slope, refused = 1.0 / (3.0 * math.sqrt(base)), 0
    for row in range(normals.shape[0]):
        one, two, three = normals[row, 0], normals[row, 1], normals[row, 2]
        # What is not above zero is never taken: for a root this small, far more would be needed than there can be.
        root = max(slope * one + 1.0, _TINY)
        cube = root * root * root
        numbers[row] = base * cube
        slack[row] = 0.5 * (one * one + two * two + three * three) - base * (cube - 3.0 * _log(root) - 1.0)
        refused += not slack[row] > 0.0
    return refused


@compiled(
    *(
        types.void(read(kind, 2), read(NUMBER, 2), read(NUMBER, 1), read(NUMBER, 1), written(NUMBER, 2))
        for kind in INPUTS
    )
)
def move(embeddings: Embeddings, normals: Matrix, amounts: Vector, deviations: Vector, moved: Matrix) -> None:
    """Write `embeddings` with noise: normals times the row's amount and the column's deviation."""
    for row in range(moved.shape[0]):
        amount = amounts[row]
        for column in range(moved.shape[1]):
            moved[row, column] = normals[row, column] * amount * deviations[column] + embeddings[row, column]


@compiled(types.void(written(NUMBER, 1), NUMBER))
def take_roots(numbers: Vector, factor: float) -> None:
    """Turn numbers into their square roots times a factor."""
    for row in range(numbers.shape[0]):
        numbers[row] = factor * math.sqrt(numbers[row])


@compiled(COUNT(written(NUMBER, 1), read(NUMBER, 1)))
def take_off(slack: Vector, costs: Vector) -> int:
    """Take costs off the slack, and return how much of it is not above zero any more."""
    refused = 0
    for row in range(slack.shape[0]):
        slack[row] -= costs[row]
        refused += not slack[row] > 0.0
    return refused


@compiled(types.void(read(NUMBER, 1), NUMBER, NUMBER, NUMBER, written(NUMBER, 1)))
def fill_costs(angles: Vector, slope: float, highest: float, power: float, costs: Vector) -> None:
    """Write how far, as the logarithm of its power, sin(t)/t falls short of exp(highest - slope · t) at each angle t.

    From a half turn on it is infinite.
    """
    for row in range(angles.shape[0]):
        angle = angles[row]
        if angle < math.pi:
            costs[row] = power * (highest - slope * angle - math.log(math.sin(angle) / angle))
        else:
            costs[row] = math.inf


@njit(inline="always")
def _turn_with_care(normals: Any, angle: Any, embedding: Any) -> None:
    """Turn a row as `turn` does, where lengths are huge or tiny or the normals hardly point aside."""
    largest = 0.0
    for column in range(normals.shape[0]):
        largest = max(largest, abs(np.float64(embedding[column])))
    # The length is not released, and squares of numbers such as these are none.
    scale = 1.0 if _SQUARES[0] < largest * largest < _SQUARES[1] else 1.0 / largest
    square, common = 0.0, 0.0
    for column in range(normals.shape[0]):
        value = np.float64(embedding[column]) * scale
        square += value * value
        common += value * normals[column]
    along, rest = common / square * scale, 0.0
    for column in range(normals.shape[0]):
        aside = normals[column] - along * np.float64(embedding[column])
        normals[column] = aside
        rest += aside * aside
    sideways, forward = math.sin(angle) / math.sqrt(rest), math.cos(angle) / math.sqrt(square) * scale
    for column in range(normals.shape[0]):
        normals[column] = normals[column] * sideways + np.float64(embedding[column]) * forward


@compiled(*(types.void(written(NUMBER, 2), read(NUMBER, 1), read(kind, 2)) for kind in INPUTS), sums_in_any_order=True)
def turn(normals: Matrix, angles: Vector, embeddings: Embeddings) -> None:
    """Turn normals into the directions of `embeddings`, turned towards the normals by the row's angle."""
    for row in range(normals.shape[0]):
        square, common, length = 0.0, 0.0, 0.0
        for column in range(normals.shape[1]):
            value, normal = np.float64(embeddings[row, column]), normals[row, column]
            square += value * value
            common += value * normal
            length += normal * normal
        along = common / square
        # Of the normals' own square, what is not along the embedding.
        rest = length - along * common
        if not (_SQUARES[0] < square < _SQUARES[1] and rest > _ASIDE * length):
            _turn_with_care(normals[row], angles[row], embeddings[row])
            continue
        sideways = math.sin(angles[row]) / math.sqrt(rest)
        forward = math.cos(angles[row]) / math.sqrt(square) - along * sideways
        for column in range(normals.shape[1]):
            normals[row, column] = normals[row, column] * sideways + np.float64(embeddings[row, column]) * forward


@compiled(types.void(read(NUMBER, 1), NUMBER, NUMBER, NUMBER, written(types.float32, 1)))
def fill_grid(values: Vector, coarse: float, lowest: float, highest: float, released: NDArray[np.float32]) -> None:
    """Write the values in the steps of numbers about as large as `coarse`, from the lowest sum to the highest."""
    for place in range(values.shape[0]):
        value = values[place] + coarse
        value = lowest if value < lowest else value
        value = highest if value > highest else value
        released[place] = value - coarse


@compiled(*(COUNT(read(kind, 2), NUMBER) for kind in INPUTS), sums_in_any_order=True)
def first_of_other_length(embeddings: Embeddings, tolerance: float) -> int:
    """Return the first row whose square is off one by more than `tolerance`, or is no number; -1 where none is."""
    for row in range(embeddings.shape[0]):
        square = 0.0
        for column in range(embeddings.shape[1]):
            value = np.float64(embeddings[row, column])
            square += value * value
        if not abs(square - 1.0) <= tolerance:
            return row
    return -1
