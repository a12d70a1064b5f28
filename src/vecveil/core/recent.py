"""A mapping that keeps what was put in last, and no more."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

from vecveil.core.checks import at_least

K = TypeVar("K")
V = TypeVar("V")


class Recent(OrderedDict[K, V]):
    """A mapping of at most `most` entries: the oldest gives way."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = at_least(most, 1, "most")

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        while len(self) > self._most:
            self.popitem(last=False)
