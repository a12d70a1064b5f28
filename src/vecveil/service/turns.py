"""Turns of clients at a thread that all of them share."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

PART_TEXTS, TOKEN_CHARACTERS = 64, 16
"""Texts that are worked on before it is another client's turn, at most, and what a token counts as."""


class ClientTurns:
    """A thread that works on requests a part at a time, for one client after the other.

    However much one of them sends, another waits for one part of it.

    Args:
        name: What the thread is called.
        characters: Length of a part at most, unless it is a single text.
    """

    def __init__(self, name: str, *, characters: int) -> None:
        self._characters = characters
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def run(self, work: Callable[[Any], Result], inputs: list[Any], *, client: str) -> list[Result]:
        """Return what `work` makes of each part of a client's texts or arrays of tokens, in their order."""
        loop = asyncio.get_running_loop()
        done = []
        for part in split_inputs(inputs, characters=self._characters):
            # One part of each client waits for the thread, which takes them in the order in which they came.
            async with self._turns[client]:
                done.append(await loop.run_in_executor(self._thread, work, inputs[part]))
        return done

    def close(self) -> None:
        """Let the thread end."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def count_characters(one: str | list[int]) -> int:
    """Return the length of a text, or what an array of tokens counts as."""
    return len(one) * (1 if isinstance(one, str) else TOKEN_CHARACTERS)


def split_inputs(inputs: list[Any], *, characters: int) -> Iterator[slice]:
    """Yield the parts of some inputs that are worked on at once."""
    start = size = 0
    for place, one in enumerate(inputs):
        length = count_characters(one)
        if place > start and (place - start == PART_TEXTS or size + length > characters):
            yield slice(start, place)
            start, size = place, 0
        size += length
    yield slice(start, len(inputs))
