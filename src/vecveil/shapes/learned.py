"""Numbers that are learned by Adam, in one piece, so that a step goes over them once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from vecveil.core.arrays import Singles
from vecveil.shapes.gate_loops import KEEP_FIRST, KEEP_SECOND, adam


class Learned:
    """Arrays of several shapes, their gradients, and what Adam knows of those.

    Attributes:
        values: The arrays, of zeros at first.
        gradients: Where their gradients go.
    """

    def __init__(self, shapes: Sequence[tuple[int, ...]], *, rate: float) -> None:
        """Make room.

        Args:
            shapes: Of each array.
            rate: Length of a step.
        """
        size = sum(math.prod(shape) for shape in shapes)
        self._values, self._gradients = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self._means = np.zeros((2, size), np.float32)
        self.values, self.gradients = _parts(self._values, shapes), _parts(self._gradients, shapes)
        self._rate, self._steps = rate, 0

    def step(self) -> None:
        """Go one step against the gradients."""
        self._steps += 1
        rate = self._rate / (1 - KEEP_FIRST**self._steps)
        stretch = 1 / math.sqrt(1 - KEEP_SECOND**self._steps)
        adam(self._values, self._gradients, self._means, rate, stretch)


def _parts(whole: Singles, shapes: Sequence[tuple[int, ...]]) -> tuple[Singles, ...]:
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    return tuple(part.reshape(shape) for part, shape in zip(np.split(whole, ends[:-1]), shapes, strict=True))
