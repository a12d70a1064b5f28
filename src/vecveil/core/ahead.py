"""Things that are fetched while the ones before them are worked on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def one_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield `items`, each fetched on another thread while the caller has the one before."""
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="vecveil-ahead") as thread:
        coming = thread.submit(next, items, end)
        while (item := coming.result()) is not end:
            coming = thread.submit(next, items, end)
            yield item  # type: ignore[misc]
