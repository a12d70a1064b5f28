"""The interface of a vector store, its batches, its mark."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import one_of
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate.fields import FieldPath, covers
from vecveil.veil.seal import SEAL

Id = str | int
"""What a store calls a row; a store of rows without names counts them."""

BATCH_ROWS = 1000
"""Rows that are protected and written together: the most that a kill can cost."""

SHADOW_ENDING, BACKUP_ENDING = "-vecveil", "-before-vecveil"

MARK = "vecveil"  # What the mark is called, where a store gives things names.
START_ANEW = "go on with the same, or delete it to start anew"

_COMPARED = {
    "epsilon": "budget",
    **{key: key for key in ("veil", "mechanism", "noise", "grid", "key")},
    "keep_texts": "choice about texts",
    "columns": "choice of columns",
    "text_field": "field of texts",
    "seals": "choice about seals, or key of them",
}
"""What must be the same when a migration is resumed, in a user's words."""


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
        ids, payload = [self.ids[row] for row in rows], [self.payload[row] for row in rows]
        return replace(self, ids=ids, vectors=self.vectors[rows], payload=payload)

    def __len__(self) -> int:
        return len(self.ids)


def stack_vectors(rows: Sequence[Any], *, first_row: int) -> Embeddings:
    """Return vectors as one array, or raise with the number of the first row that has none."""
    missing = next((row for row, vector in enumerate(rows) if vector is None), None)
    if missing is not None:
        raise InvalidInputError(f"row {first_row + missing} has no vector")
    if len({len(vector) for vector in rows}) > 1:
        raise InvalidInputError("the vectors have different numbers of dimensions")
    return np.asarray(rows, dtype=np.float32)


def choose_vectors(known: Sequence[str], chosen: str | None, where: str) -> str:
    """Return the name of the vectors that are migrated: the chosen one, or the only one, or raise."""
    if chosen is not None:
        return one_of(chosen, known, f"vector column of {where}")
    if len(known) != 1:
        raise InvalidInputError(
            f"rows of {where} have {len(known)} vectors; name one (--vector-column): {', '.join(known) or 'none'}"
        )
    return known[0]


class Store(ABC):
    """A store, opened for one collection.

    Attributes:
        collection: Name of the collection that is migrated.
        shadow: Name of the collection beside it that protected rows are written to.
        backup: Name that the clean collection has after the swap.
        seal_path: Where a payload keeps a seal, as text unless it `takes_bytes`.
    """

    seal_path: FieldPath = (SEAL,)
    takes_bytes = True

    def __init__(self, collection: str) -> None:
        self.collection = collection
        self.shadow, self.backup = collection + SHADOW_ENDING, collection + BACKUP_ENDING

    @property
    def columns(self) -> Mapping[str, str | None]:
        """Columns in use, by option (`id_column`, `vector_column`), for the mark; empty where there is no choice."""
        return {}

    @property
    def other_vectors(self) -> Sequence[str]:
        """Other vectors of the same rows, which nothing has protected, so that they are always left out."""
        return ()

    @abstractmethod
    def list_names(self) -> Sequence[str]:
        """Return the names of all collections, for errors."""

    @abstractmethod
    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is no such collection."""

    @abstractmethod
    def read_note(self, name: str) -> str | None:
        """Return the text in which a collection carries its mark; None where it has none."""

    @abstractmethod
    def read_batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches of at most `rows` rows, in the same order each time."""

    @abstractmethod
    def create_shadow(self, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow that is searched like the collection, with its mark from the start."""

    @abstractmethod
    def find_present(self, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids the shadow has already."""

    @abstractmethod
    def append(self, batch: Batch) -> None:
        """Add protected rows to the shadow: all or, after a kill, some of them, but each whole and none twice."""

    def finish_shadow(self) -> None:  # noqa: B027
        """Make a shadow that has all its rows ready to be searched; doing it again changes nothing."""

    @abstractmethod
    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that the store finds for each vector, nearest first."""

    def is_swap_stopped(self) -> bool:
        """Return whether a swap was stopped after it had begun to make the backup; never where it is all or nothing."""
        return False

    @abstractmethod
    def require_swappable(self) -> None:
        """Raise where the store would refuse a swap, other than for a backup that exists."""

    @abstractmethod
    def swap(self) -> str:
        """Give the collection's name to the shadow, or finish a stopped swap, and return where the clean rows are."""

    @abstractmethod
    def drop_backup(self) -> None:
        """Delete the clean rows for good, with what the store would leave of them on disk.

        Stopped, it can be repeated: until nothing is left, the backup counts as a collection without rows.
        """

    def close(self) -> None:  # noqa: B027
        """Release what the store holds open."""

    def read_mark(self, name: str) -> dict[str, Any] | None:
        """Return the mark of a collection, which says how its vectors were protected; None where they were not."""
        return parse_mark(self.read_note(name), name)

    def shadow_has_all(self, clean: str, rows: int = BATCH_ROWS) -> bool:
        """Return whether the shadow has a row for each row of a clean collection."""
        batches = self.read_batches(clean, rows)
        return all(len(self.find_present(batch.ids)) == len(batch) for batch in batches)


def format_mark(mark: Mapping[str, Any]) -> str:
    """Return a mark as one line of JSON."""
    return json.dumps({MARK: dict(mark)}, sort_keys=True)


def parse_mark(text: str | None, name: str) -> dict[str, Any] | None:
    """Return the mark in the note of a collection; None where there is no note, or one that is not from vecveil."""
    try:
        found = json.loads(text or "null")
    except ValueError:
        return None
    if not isinstance(found, dict) or MARK not in found:
        return None
    mark = found[MARK]
    if not isinstance(mark, dict) or "left_out" not in mark or "keep_texts" not in mark:
        raise ArtifactError(f"the mark of {name} is damaged")
    return mark


def require_same_mark(
    found: Mapping[str, Any], wanted: Mapping[str, Any], name: str, *, advice: str = START_ANEW
) -> None:
    """Raise, with what differs and with advice, unless a collection was begun with what is wanted now."""
    differing = [words for key, words in _COMPARED.items() if found.get(key) != wanted.get(key)]
    if differing:
        raise InvalidInputError(f"{name} was begun with another {', another '.join(differing)}; {advice}")
    known = {tuple(path) for path in found["left_out"]}
    fields = sorted(path for path in map(tuple, wanted["left_out"]) if not covers(known, path))
    if fields:
        names = ", ".join(".".join(path) for path in fields)
        raise InvalidInputError(
            f"{name} was begun before these fields read like texts or vectors: {names}; delete it to start anew"
        )
