"""What a test asks of a vector store: to be filled, changed and read without vecveil."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from support.veils import PRIVATE_WORD
from vecveil.core.arrays import Embeddings
from vecveil.migrate import Store, open_store

Rows = dict[str, tuple[bytes, Any, Any]]
"""By id: the vector's bytes, the topic, the text."""


def topic_of(row: int) -> dict[str, Any]:
    """What goes along."""
    return {"topic": f"topic {row % 3}", "page": row}


def text_of(row: int) -> str:
    """What stays behind."""
    return f"Patient {row} has {PRIVATE_WORD} and it's said that she rests well."


@dataclass(frozen=True, kw_only=True)
class Place:
    """A store: where it is, and how to fill and read it."""

    where: str

    has_payload: ClassVar[bool] = True

    def fill(self, name: str, vectors: Embeddings, *, first: int = 0) -> None:
        """Make a collection, or add rows to one."""
        raise NotImplementedError

    def rows(self, name: str) -> Rows | None:
        """Return all rows of a collection; None where there is none."""
        raise NotImplementedError

    def seals(self, name: str) -> dict[Any, Any]:
        """Return the seals of a collection, as they are kept, by the ids that vecveil knows rows by; empty without."""
        raise NotImplementedError

    def revise(self, name: str, row: int, *, vector: Embeddings | None = None, topic: str | None = None) -> None:
        """Give a row another vector or another topic, under the same id."""
        raise NotImplementedError

    @contextmanager
    def opened(self, name: str = "notes", **columns: str) -> Iterator[Store]:
        """Yield the store as vecveil opens it."""
        store = open_store(self.where, name, **columns)
        try:
            yield store
        finally:
            store.close()


def vector_bytes(vector: Any) -> bytes:
    """Return a vector's numbers as float32."""
    return np.asarray(vector, dtype=np.float32).tobytes()


def vectors_in(rows: Rows) -> NDArray[np.float32]:
    """Return the vectors of all rows."""
    return np.stack([np.frombuffer(vector, dtype=np.float32) for vector, _, _ in rows.values()])


def failing(function: Callable[..., Any], *, after: int) -> Callable[..., Any]:
    """Return a function that works so often, and then is as if the program had been killed."""
    calls = 0

    def called(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return called
