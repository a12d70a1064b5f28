"""The tangents of many angles, by whole arrays on processors that have no faster way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from vecveil.core.arrays import Matrix
from vecveil.core.room import Room, new_room

_PI, _HALF, _MIDDLE = np.array(np.pi), np.array(0.5), np.array(1.5)

_ABOVE = tuple(map(np.array, (-151.95768956421954802, 2815.6496921624209453, -8895.4550278242293912)))
_BELOW = tuple(
    map(np.array, (17.732312008597382745, -804.8573905399667091, 6450.1476270497493612, -5663.0225549195177707))
)
"""Of the rational function of x² that is tan(πx/2)/x up to x = 1/2, as nearly as doubles can say: the coefficients
above, after x⁶, and below, from that of x⁶ on. `experiments/tangents.py` finds them."""

Tangents = Callable[[Matrix, Room], Matrix]


def tangents_of_turns(turns: Matrix, *, room: Room = new_room) -> Matrix:
    """Return tan(π · turns) of numbers between 1 and 2, which are overwritten; 3/2, the pole, must not be among them.

    Sines and cosines that are made of them agree to some units in the last place, whichever way they are found.
    """
    return _fastest()(turns, room)


def by_numpy(turns: Matrix, room: Room) -> Matrix:
    """Return them by NumPy's own tangent."""
    del room
    turns *= _PI
    return np.asarray(np.tan(turns, out=turns))


def by_arithmetic(turns: Matrix, room: Room) -> Matrix:
    """Return them by a rational function: each step is one that every processor does for several numbers at once.

    With x the distance from 3/2 and q = tan(πx/2), it is tan(π(x + 3/2)) = -cot(πx) = (q - 1/q)/2.
    """
    turns -= _MIDDLE
    squares = np.multiply(turns, turns, out=room("squares", turns.shape))
    above = np.add(squares, _ABOVE[0], out=room("above", turns.shape))
    for coefficient in _ABOVE[1:]:
        above *= squares
        above += coefficient
    below = np.multiply(squares, _BELOW[0], out=room("below", turns.shape))
    for coefficient in _BELOW[1:-1]:
        below += coefficient
        below *= squares
    below += _BELOW[-1]
    above *= turns
    np.divide(above, below, out=turns)
    np.divide(below, above, out=above)
    turns -= above
    turns *= _HALF
    return turns


@cache
def _fastest() -> Tangents:
    # Where NumPy's tangent has no instructions for several numbers at once, it takes four times as long as arithmetic.
    ways = np.lib.introspect.opt_func_info(func_name="^tan$", signature="float64").get("tan", {})
    return by_arithmetic if all("baseline" in way["current"] for way in ways.values()) else by_numpy
