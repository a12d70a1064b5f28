"""Choices that come out the same on every machine and under every version of Python."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Picker:
    """Chooses by the hash of a key and of what is being chosen.

    The streams of random generators may change between versions, SHA-256 may not. And since each choice has a name,
    a choice that is added later leaves the others as they were.
    """

    key: str

    def number(self, what: str, size: int) -> int:
        """Return a whole number from 0 to `size` (exclusive)."""
        digest = hashlib.sha256(f"{self.key}/{what}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % size

    def one(self, what: str, options: Sequence[T]) -> T:
        """Return one of `options`."""
        return options[self.number(what, len(options))]

    def two(self, what: str, options: Sequence[T]) -> tuple[T, T]:
        """Return two different places of `options`."""
        first = self.number(what, len(options))
        step = 1 + self.number(f"other {what}", len(options) - 1)
        return options[first], options[(first + step) % len(options)]
