"""pgvector: tables of PostgreSQL with a column of vectors. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.migrate.marking import read_mark, written
from vecveil.migrate.store import Batch, Id

try:
    from psycopg import sql

    from vecveil.migrate.pgvector_database import Database, TableName
    from vecveil.migrate.pgvector_swap import swap_tables
    from vecveil.migrate.pgvector_table import Table
except ImportError:
    raise MissingExtraError("psycopg", "postgres") from None


def open_pgvector(
    target: str, collection: str, *, id_column: str | None = None, vector_column: str | None = None
) -> PgvectorStore:
    """Return the store at the URL `target`, opened for the table `collection`, which may have its schema before it."""
    return PgvectorStore(Database(target), collection, ids=id_column, vectors=vector_column)


class PgvectorStore:
    """Tables of a database; `Store` says what each method promises.

    Rows go from table to table inside the database; what is written from here is protected vectors. Columns that don't
    go along stay in the shadow, with nothing in them.

    Args:
        database: An open connection.
        collection: Name of the table, `table` or `schema.table`.
        ids: Column of ids; the primary key where None.
        vectors: Column of vectors; the only one there is where None.
    """

    def __init__(
        self, database: Database, collection: str, *, ids: str | None = None, vectors: str | None = None
    ) -> None:
        self._database = database
        self.collection = collection
        self._chosen = {"ids": ids, "vectors": vectors}

    @property
    def never(self) -> Sequence[str]:
        """Other columns of vectors."""
        return self._table.never

    def names(self) -> Sequence[str]:
        """Return the names of all collections."""
        return self._database.tables()

    def count(self, name: str) -> int | None:
        """Return how many rows a collection has; None where there is none."""
        if self._database.rows(sql.SQL("SELECT to_regclass(%s)"), TableName(name).quoted) == [(None,)]:
            return None
        return int(self._database.rows(sql.SQL("SELECT count(*) FROM {}").format(TableName(name).sql))[0][0])

    def mark(self, name: str) -> Mapping[str, Any] | None:
        """Return the mark of a collection; None where it has none."""
        comment = sql.SQL("SELECT obj_description(to_regclass(%s), 'pg_class')")
        return read_mark(self._database.rows(comment, TableName(name).quoted)[0][0], name)

    def batches(self, name: str, rows: int) -> Iterator[Batch]:
        """Yield a collection in batches."""
        table, first, last = self._table, 0, None
        others = sql.SQL("").join(sql.SQL(", {}").format(table.own(other)) for other in table.others)
        query = sql.SQL(
            "SELECT s.{id}::text, s.{vector}::real[] {others} FROM {table} s "
            "WHERE %s::text IS NULL OR s.{id} > %s::text::{kind} ORDER BY s.{id} LIMIT %s"
        ).format(**table.pieces(name), vector=sql.Identifier(table.vectors), others=others)
        while found := self._database.rows(query, last, last, rows):
            yield Batch(
                ids=[row[0] for row in found],
                vectors=_vectors([row[1] for row in found], first_row=first),
                payload=[dict(zip(table.others, row[2:], strict=True)) for row in found],
            )
            first, last = first + len(found), found[-1][0]

    def create(self, name: str, mark: Mapping[str, Any]) -> None:
        """Make an empty shadow with its mark."""
        table, shadow = self._table, TableName(name).sql
        carried = table.carried([tuple(path) for path in mark["left_out"]])
        like = sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)")
        emptied = sql.SQL("ALTER TABLE {0} ALTER COLUMN {1} DROP NOT NULL, ALTER COLUMN {1} DROP DEFAULT")
        with self._database.together():
            self._database.rows(like.format(shadow, TableName(self.collection).sql))
            for column in (*table.others, *table.never):
                if column not in carried:
                    self._database.rows(emptied.format(shadow, sql.Identifier(column)))
            self._database.rows(sql.SQL("COMMENT ON TABLE {} IS {}").format(shadow, sql.Literal(written(mark))))

    def present(self, name: str, ids: Sequence[Id]) -> set[Id]:
        """Return which of these ids a shadow has."""
        query = sql.SQL("SELECT {id}::text FROM {table} WHERE {id} = ANY (%s::text[]::{kind}[])")
        found = self._database.rows(query.format(**self._table.pieces(name)), [str(one) for one in ids])
        return {one for (one,) in found}

    def append(self, name: str, batch: Batch) -> None:
        """Add protected rows to a shadow."""
        table, mark = self._table, self.mark(name) or {"left_out": []}
        carried = table.carried([tuple(path) for path in mark["left_out"]])
        query = sql.SQL(
            "INSERT INTO {shadow} ({columns}) OVERRIDING SYSTEM VALUE "
            "SELECT {values} FROM {table} s WHERE s.{id} = %s::text::{kind} ON CONFLICT ({id}) DO NOTHING"
        ).format(
            **table.pieces(self.collection),
            shadow=TableName(name).sql,
            columns=sql.SQL(", ").join(map(sql.Identifier, [table.vectors, table.ids, *carried])),
            values=sql.SQL(", ").join([table.vector_value, table.own(table.ids), *carried.values()]),
        )
        self._database.many(query, list(zip(batch.vectors.tolist(), map(str, batch.ids), strict=True)))

    def finish(self, name: str) -> None:
        """Make the lists of IVFFlat indexes anew: those of an empty table find little."""
        lists = sql.SQL(
            "SELECT c.oid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = %s::regclass AND a.amname = 'ivfflat'"
        )
        for (index,) in self._database.rows(lists, TableName(name).quoted):
            self._database.rows(sql.SQL("REINDEX INDEX {}").format(sql.SQL(index)))
        self._database.rows(sql.SQL("ANALYZE {}").format(TableName(name).sql))

    def search(self, name: str, vectors: Embeddings, k: int) -> list[list[Id]]:
        """Return the ids that a search finds for each vector."""
        table = self._table
        query = sql.SQL("SELECT {id}::text FROM {table} ORDER BY {vector} {nearer} {value} LIMIT %s").format(
            id=sql.Identifier(table.ids),
            table=TableName(name).sql,
            vector=sql.Identifier(table.vectors),
            nearer=table.nearer(self._database, TableName(self.collection).quoted),
            value=table.vector_value,
        )
        return [[one for (one,) in self._database.rows(query, row, k)] for row in vectors.tolist()]

    def halfway(self, backup: str) -> bool:
        """Return False: PostgreSQL renames both or none."""
        del backup
        return False

    def swap(self, shadow: str, backup: str) -> None:
        """Change the names."""
        swap_tables(self._database, TableName(self.collection), TableName(shadow), TableName(backup))

    def close(self) -> None:
        """Let go of it."""
        self._database.close()

    @cached_property
    def _table(self) -> Table:
        return Table.of(self._database, TableName(self.collection).quoted, self.collection, **self._chosen)


def _vectors(found: Sequence[Any], *, first_row: int) -> Embeddings:
    missing = next((row for row, vector in enumerate(found) if vector is None), None)
    if missing is not None:
        raise InvalidInputError(f"row {first_row + missing} has no vector")
    if len({len(vector) for vector in found}) > 1:
        raise InvalidInputError("the vectors have different numbers of dimensions")
    return np.asarray(found, dtype=np.float32)
