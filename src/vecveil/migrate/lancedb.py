"""LanceDB: tables in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vecveil.artifacts.vectors import column_of, vectors_of
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.migrate.lancedb_columns import LanceColumns
from vecveil.migrate.marking import MARK, read_mark, written
from vecveil.migrate.store import Batch, Id

if TYPE_CHECKING:
    from lancedb.db import DBConnection

ID = "id"
"""Column of ids where nobody names another."""

ENDING = ".lance"
"""What the folder of a table ends in."""


def open_lancedb(target: str, collection: str, *, id_column: str = ID, vector_column: str | None = None) -> LanceStore:
    """Return the store in the folder `target`."""
    try:
        import lancedb
    except ImportError:
        raise MissingExtraError("lancedb", "lancedb") from None
    folder = Path(target)
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
        self._connection, self._folder = connection, folder
        self.collection = collection
        self._ids, self._vectors = ids, vectors

    @property
    def never(self) -> Sequence[str]:
        """Other columns of vectors."""
        return self._columns(self.collection).never

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return sorted(path.name.removesuffix(ENDING) for path in self._folder.glob(f"*{ENDING}"))

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        return int(self._open(name).count_rows()) if self._path(name).is_dir() else None

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        if not self._path(name).is_dir():
            return None
        notes = self._open(name).schema.metadata or {}
        return read_mark(notes.get(MARK.encode(), b"").decode(), name)

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        table, columns, first = self._open(name), self._columns(name), 0
        columns.require_unique(table, name)
        others = list(columns.others)
        query = table.search().select([columns.ids, columns.vectors, *others])
        for found in query.to_batches(rows):
            if found.num_rows:
                yield Batch(
                    ids=found.column(columns.ids).to_pylist(),
                    vectors=vectors_of(found.column(columns.vectors), first_row=first),
                    payload=found.select(others).to_pylist() if others else [{}] * found.num_rows,
                )
            first += found.num_rows

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        import pyarrow as pa

        columns, schema = self._columns(self.collection), self._open(self.collection).schema
        needed = {columns.ids, columns.vectors}
        fields = [one if one.name in needed else one.with_nullable(True) for one in schema]
        # The table's own notes are not taken over: they name the function that makes clean vectors of what is added.
        self._connection.create_table(name, schema=pa.schema(fields, metadata={MARK: written(mark)}))

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        quoted = ", ".join(str(one) if isinstance(one, int) else "'" + one.replace("'", "''") + "'" for one in ids)
        query = self._open(name).search().where(f"`{self._ids}` IN ({quoted})").select([self._ids])
        return {*query.to_arrow().column(self._ids).to_pylist()}

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        import pyarrow as pa

        table, columns = self._open(name), self._columns(name)
        named = [{**row, columns.ids: one} for one, row in zip(batch.ids, batch.payload, strict=True)]
        kind = table.schema.field(columns.vectors)
        rows = pa.Table.from_pylist(named, schema=pa.schema([one for one in table.schema if one.name != kind.name]))
        place = table.schema.get_field_index(kind.name)
        rows = rows.add_column(place, kind, column_of(batch.vectors).cast(kind.type))
        table.merge_insert(columns.ids).when_not_matched_insert_all().execute(rows)

    def finish(self, name: str) -> None:
        """Put the many small pieces together that batches left; LanceDB looks at every row where it has no index."""
        self._open(name).optimize()

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        table, column, found = self._open(name), self._columns(name).vectors, []
        for row in np.asarray(vectors, dtype=np.float32):
            query = table.search(row, vector_column_name=column).select([self._ids, "_distance"]).limit(k)
            found.append(query.to_arrow().column(self._ids).to_pylist())
        return found

    def halfway(self, backup: str) -> bool:
        """Return whether a swap was stopped at this backup."""
        return not self._path(self.collection).exists() and self._path(backup).exists()

    def swap(self, shadow: str, backup: str) -> None:
        """Change the names."""
        # LanceDB renames no tables, but a table is a folder that may be moved; for a moment none has the name.
        if self._path(self.collection).exists():
            self._path(self.collection).rename(self._path(backup))
        self._path(shadow).rename(self._path(self.collection))

    def close(self) -> None:
        """Nothing is held open."""

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{ENDING}"

    def _open(self, name: str) -> Any:
        return self._connection.open_table(name)

    def _columns(self, name: str) -> LanceColumns:
        return LanceColumns.of(self._open(name).schema, ids=self._ids, vectors=self._vectors, table=name)
