"""Progress of long work, whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")


class Progress(Protocol):
    """Wraps a loop; the command line hands in one that draws a bar."""

    def __call__(
        self, items: Iterable[T], *, label: str, total: int | None = None, weigh: Callable[[T], int] | None = None
    ) -> Iterator[T]:
        """Yield `items` unchanged, telling someone after each.

        Args:
            items: What is worked on.
            label: What is done with it.
            total: How much there is in all.
            weigh: How much of the total one item is; 1 where None.
        """


def silent(
    items: Iterable[T], *, label: str, total: int | None = None, weigh: Callable[[T], int] | None = None
) -> Iterator[T]:
    """Yield `items` and tell no one."""
    del label, total, weigh
    yield from items
