"""pgvector: tables of PostgreSQL with a column of vectors. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import ArtifactError, MissingExtraError
from vecveil.migrate.marking import read_mark
from vecveil.migrate.store import Batch, Id

try:
    from psycopg import sql

    from vecveil.migrate.pgvector_database import Database
    from vecveil.migrate.pgvector_name import TableName, require_short
    from vecveil.migrate.pgvector_obstacles import require_swappable
    from vecveil.migrate.pgvector_rows import append_rows, nearest_ids, present_ids, read_rows
    from vecveil.migrate.pgvector_shadow import create_shadow, finish_shadow
    from vecveil.migrate.pgvector_swap import swap_tables
    from vecveil.migrate.pgvector_table import Table
except ImportError:
    raise MissingExtraError("psycopg", "postgres") from None


def open_pgvector(
    target: str, collection: str, *, id_column: str | None = None, vector_column: str | None = None
) -> PgvectorStore:
    """Return the store at the URL `target`, opened for the table `collection`, which may have its schema before it."""
    require_short(collection)
    return PgvectorStore(Database(target), collection, ids=id_column, vectors=vector_column)


class PgvectorStore:
    """Tables of a database; `Store` says what each method promises.

    Rows go from table to table inside the database; what is written from here is protected vectors. Columns that don't
    go along stay in the shadow, with nothing in them. Shadow and backup are in the schema of the table.

    Args:
        database: An open connection.
        collection: Name of the table, `table` or `schema.table`.
        ids: Column of ids; the primary key where None.
        vectors: Column of vectors; the only one there is where None.
    """

    def __init__(self, database: Database, collection: str, *, ids: str | None, vectors: str | None) -> None:
        self._database = database
        self.collection = collection
        self._chosen = {"ids": ids, "vectors": vectors}
        self._grown = False

    @property
    def never(self) -> Sequence[str]:
        """Other columns of vectors."""
        return [column.name for column in self._table.never]

    @property
    def columns(self) -> Mapping[str, str | None]:
        """The columns of vectors and of ids."""
        return {"vector_column": self._table.vectors.name, "id_column": self._table.ids.name}

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return self._database.tables()

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        table = self._named(name)
        if self._database.rows(sql.SQL("SELECT to_regclass(%s)"), table.quoted) == [(None,)]:
            return None
        return int(self._database.rows(sql.SQL("SELECT count(*) FROM {}").format(table.sql))[0][0])

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        comment = sql.SQL("SELECT obj_description(to_regclass(%s), 'pg_class')")
        return read_mark(self._database.rows(comment, self._named(name).quoted)[0][0], name)

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        return read_rows(self._database, self._table, self._named(name), rows)

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        create_shadow(self._database, self._table, self._named(self.collection), self._named(name), mark)

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        return present_ids(self._database, self._table, self._named(name), ids)

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        mark = self.mark(name)
        if mark is None:
            raise ArtifactError(f"{name} has lost its mark, which says what is left out; delete it to start anew")
        self._grown = True
        source, shadow = self._named(self.collection), self._named(name)
        left_out = [tuple(path) for path in mark["left_out"]]
        append_rows(self._database, self._table, batch, source=source, shadow=shadow, left_out=left_out)

    def finish(self, name: str) -> None:
        """Make the index ready where it needs it."""
        finish_shadow(self._database, self._named(name), grown=self._grown)
        self._grown = False

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        nearer = self._table.nearer(self._database, self._named(self.collection))
        return nearest_ids(self._database, self._table, self._named(name), vectors, k=k, nearer=nearer)

    def halfway(self, backup: str) -> bool:
        """Return False: PostgreSQL renames both or none."""
        del backup
        return False

    def require_swappable(self, backup: str) -> None:
        """Raise, with names, where something would stay with the old table."""
        del backup
        require_swappable(self._database, self._named(self.collection), self.collection)

    def swap(self, shadow: str, backup: str) -> str:
        """Change the names."""
        names = [self._named(name) for name in (self.collection, shadow, backup)]
        swap_tables(self._database, *names, ids=self._table.ids.name, name=self.collection)
        return backup

    def drop(self, backup: str) -> None:
        """Delete the table."""
        with self._database.together(locking=True):
            self._database.rows(sql.SQL("DROP TABLE {}").format(self._named(backup).sql))

    def close(self) -> None:
        """Let go of it."""
        self._database.close()

    @cached_property
    def _table(self) -> Table:
        return Table.of(self._database, self._named(self.collection), self.collection, **self._chosen)

    @cached_property
    def _schema(self) -> str | None:
        """Where the table is: a search path may change, and may lead a shadow elsewhere."""
        query = sql.SQL("SELECT relnamespace::regnamespace::name FROM pg_class WHERE oid = to_regclass(%s)")
        found = self._database.rows(query, TableName.read(self.collection).quoted)
        return found[0][0] if found else None

    def _named(self, name: str) -> TableName:
        return TableName.read(name, self._schema)
