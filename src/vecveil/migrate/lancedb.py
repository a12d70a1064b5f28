"""LanceDB: tables in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.migrate.completeness import was_stopped_between
from vecveil.migrate.folders import folder_of
from vecveil.migrate.lancedb_columns import LanceColumns, shadow_schema
from vecveil.migrate.lancedb_folder import LanceFolder
from vecveil.migrate.lancedb_rows import distance_of, known_ids, nearest, read_rows, trying, write_rows
from vecveil.migrate.marking import MARK, read_mark, written
from vecveil.migrate.store import Batch, Id

if TYPE_CHECKING:
    from lancedb.db import DBConnection

ID = "id"
"""Column of ids where nobody names another."""


def open_lancedb(target: str, collection: str, *, id_column: str = ID, vector_column: str | None = None) -> LanceStore:
    """Return the store in the folder `target`."""
    try:
        import lancedb
    except ImportError:
        raise MissingExtraError("lancedb", "lancedb") from None
    folder = folder_of(target, "lancedb")
    if not folder.is_dir():
        raise InvalidInputError(f"there is no folder {target}; tables are swapped by renaming, so they must be in one")
    return LanceStore(lancedb.connect(target), folder, collection, ids=id_column, vectors=vector_column)


class LanceStore:
    """Tables of a LanceDB connection; `Store` says what each method promises.

    Columns that don't go along stay in the shadow, with nothing in them, so that who asks for them still can.

    Args:
        connection: An open connection.
        folder: Where the tables are.
        collection: Name of the table.
        ids: Column that says which record a row is.
        vectors: Column of vectors; the only one there is where None.
    """

    def __init__(
        self, connection: DBConnection, folder: Path, collection: str, *, ids: str = ID, vectors: str | None = None
    ) -> None:
        self._connection, self._folder = connection, LanceFolder(folder)
        self.collection = collection
        self._ids, self._vectors = ids, vectors

    @property
    def never(self) -> Sequence[str]:
        """Other columns of vectors."""
        return self._columns(self.collection).never

    @property
    def columns(self) -> Mapping[str, str | None]:
        """The columns of ids and of vectors."""
        found = self._columns(self.collection)
        return {"id_column": found.ids, "vector_column": found.vectors}

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return self._folder.names()

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        if not self._folder.has(name):
            return 0 if self._folder.drops.begun(name) else None
        with trying("count", name):
            return int(self._open(name).count_rows())

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        if not self._folder.has(name):
            return None
        notes = self._open(name).schema.metadata or {}
        return read_mark(notes.get(MARK.encode(), b"").decode(), name)

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        if not self._folder.has(name):
            return
        yield from read_rows(self._open(name), self._columns(name), rows)

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        columns, like = self._columns(self.collection), self._open(self.collection).schema
        with trying("make", name):
            self._connection.create_table(name, schema=shadow_schema(like, columns, {MARK: written(mark)}))

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        return known_ids(self._open(name), self._ids, ids)

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        write_rows(self._open(name), self._columns(name), batch)

    def finish(self, name: str) -> None:
        """Put the many small pieces together that batches left; LanceDB looks at every row where it has no index."""
        with trying("finish", name):
            self._open(name).optimize()

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector, by the distance of the collection's index."""
        distance = distance_of(self._open(self.collection), self._columns(self.collection).vectors)
        return nearest(self._open(name), self._columns(name), vectors, k, distance=distance)

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        return was_stopped_between(self, backup)

    def require_swappable(self, backup: str) -> None:
        """Raise where something that is no table has the backup's name."""
        self._folder.require_free(backup)

    def swap(self, shadow: str, backup: str) -> str:
        """Change the names."""
        # An empty table that came between two renames gives way.
        if self._folder.has(backup) and self.count(self.collection) == 0:
            self._folder.remove(self.collection)
        self._folder.swap(self.collection, shadow, backup)
        return backup

    def drop(self, backup: str) -> None:
        """Delete a backup; LanceDB keeps nothing of a table outside of its folder."""
        self._folder.drop(backup)

    def close(self) -> None:
        """Nothing is held open."""

    def _open(self, name: str) -> Any:
        with trying("open", name):
            return self._connection.open_table(name)

    def _columns(self, name: str) -> LanceColumns:
        return LanceColumns.of(self._open(name).schema, ids=self._ids, vectors=self._vectors, table=name)
