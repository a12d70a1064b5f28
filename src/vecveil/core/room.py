"""Memory for arrays that are made block by block: to get it anew can take longer than to fill it."""

from __future__ import annotations

import math
import threading
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Room(Protocol):
    """Gives out memory."""

    def __call__(self, name: str, shape: tuple[int, ...], dtype: str = "<f8") -> NDArray[Any]:
        """Return an array with anything in it; whoever asks again under the same name may be given the same memory."""
        ...


def new_room(name: str, shape: tuple[int, ...], dtype: str = "<f8") -> NDArray[Any]:
    """Return memory that nobody else has."""
    del name
    return np.empty(shape, dtype)


class KeptRoom(threading.local):
    """Memory that a thread is given again under the same name, for as long as this object is there.

    What was given before is overwritten then. So it is for work whose blocks don't outlive their turn.
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.uint8]] = {}

    def __call__(self, name: str, shape: tuple[int, ...], dtype: str = "<f8") -> NDArray[Any]:
        """Return an array in the memory of that name, which is made anew where it is too small."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        kept = self._kept.get(name)
        if kept is None or kept.size < size:
            kept = self._kept[name] = np.empty(size, dtype=np.uint8)
        return kept[:size].view(dtype).reshape(shape)
