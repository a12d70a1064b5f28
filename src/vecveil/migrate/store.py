"""What migration asks of a vector store: to read a collection, to keep a shadow beside it, and to swap the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError

Id = str | int
"""What a store calls a row; a store of rows without names counts them."""

BATCH_ROWS = 1000
"""Rows that are protected and written together: the most that a kill can cost."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Some rows of a collection.

    Attributes:
        ids: What the store calls them.
        vectors: One per row.
        payload: What else the store keeps of each row, by field; texts are fields like others here.
    """

    ids: Sequence[Id]
    vectors: Embeddings
    payload: Sequence[Mapping[str, Any]]

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.vectors) == len(self.payload):
            raise InvalidInputError(
                f"a batch has one vector and one payload for each id, got {len(self.vectors)} and {len(self.payload)} "
                f"for {len(self.ids)}"
            )

    def without(self, known: set[Id]) -> Self:
        """Return the rows whose ids are not among `known`."""
        rows = [row for row, name in enumerate(self.ids) if name not in known]
        if len(rows) == len(self.ids):
            return self
        return replace(
            self,
            ids=[self.ids[row] for row in rows],
            vectors=self.vectors[rows],
            payload=[self.payload[row] for row in rows],
        )

    def __len__(self) -> int:
        return len(self.ids)


class Store(Protocol):
    """A store, opened for one collection. Other names are those of the shadow and of the backup beside it."""

    @property
    def collection(self) -> str:
        """Name of the collection that is migrated."""
        ...

    @property
    def never(self) -> Sequence[str]:
        """What is left out whatever is asked for: other vectors of the same rows, which nothing has protected."""
        ...

    @property
    def columns(self) -> Mapping[str, str | None]:
        """Columns or fields that were named or found, by option (`id_column`, `vector_column`); empty without a choice.

        They stand in the mark: a shadow is not gone on with by other ones.
        """
        ...

    def names(self) -> Sequence[str]:
        """Return the names of all collections, for errors."""
        ...

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is no such collection."""
        ...

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return what a collection says of how its vectors were protected; None where they were not."""
        ...

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches of at most `rows` rows, in the same order each time."""
        ...

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow that is searched like the collection, with its mark on it from the start."""
        ...

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has already."""
        ...

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow: all or, after a kill, some of them, but each whole and none twice."""
        ...

    def finish(self, name: str) -> None:
        """Make a shadow that has all its rows ready to be searched; doing it again changes nothing."""
        ...

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that the store finds for each vector, nearest first."""
        ...

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped after it had begun to make this backup."""
        ...

    def require_swappable(self, backup: str) -> None:
        """Raise, with what stands in the way, where a swap would be refused later; that a backup exists is known."""
        ...

    def swap(self, shadow: str, backup: str) -> str:
        """Give the collection's name to the shadow and the backup's to the collection; go on where one was stopped.

        Returns:
            The name under which the clean rows are now.
        """
        ...

    def drop(self, backup: str) -> None:
        """Delete the clean rows of a backup for good, with what the store would leave of them on disk.

        Stopped, it is repeated: until nothing is left, the backup counts as one that is there, if without rows.
        """
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...


def shadow_of(collection: str) -> str:
    """Return the name of a collection's shadow."""
    return f"{collection}-vecveil"


def backup_of(collection: str) -> str:
    """Return the name that a collection has after the swap."""
    return f"{collection}-before-vecveil"
