"""What was made last, kept for the next time that it is asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from vecveil.core.checks import at_least

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps at most `most` things: the oldest gives way. Threads may share it; at worst a thing is made twice."""

    def __init__(self, most: int) -> None:
        self._most = at_least(most, 1, "most")
        self._kept: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return what is kept under `key`; where there is nothing, make it and keep it."""
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = make()
            if len(self._kept) > self._most:
                # Another thread may have been quicker.
                with suppress(KeyError):
                    self._kept.popitem(last=False)
        return found
