"""The rows of a table in PostgreSQL, read, and copied with other vectors. Imports psycopg."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from psycopg import sql

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.pgvector_database import Database, Statement
from vecveil.migrate.pgvector_name import TableName, identifier
from vecveil.migrate.pgvector_table import Table, own
from vecveil.migrate.store import Batch, Id
from vecveil.migrate.texts import FieldPath


def read_rows(database: Database, table: Table, source: TableName, rows: int) -> Iterator[Batch]:
    """Yield the rows of a table in batches, in the order of their ids."""
    first, last = 0, None
    others = sql.SQL("").join(sql.SQL(", {}").format(own(other)) for other in table.others)
    query = sql.SQL(
        "SELECT s.{id}::text, s.{vector}::real[] {others} FROM {table} s "
        "WHERE %s::text IS NULL OR s.{id} > %s::text::{kind} ORDER BY s.{id} LIMIT %s"
    ).format(**table.pieces(source), others=others)
    names = [other.name for other in table.others]
    while found := database.rows(query, last, last, rows):
        yield Batch(
            ids=[row[0] for row in found],
            vectors=_vectors([row[1] for row in found], first_row=first),
            payload=[dict(zip(names, row[2:], strict=True)) for row in found],
        )
        first, last = first + len(found), found[-1][0]


def present_ids(database: Database, table: Table, source: TableName, ids: Sequence[Id]) -> set[Id]:
    """Return which of these ids a table has."""
    query = sql.SQL("SELECT {id}::text FROM {table} WHERE {id} = ANY (%s::text[]::{kind}[])")
    return {one for (one,) in database.rows(query.format(**table.pieces(source)), [str(one) for one in ids])}


def nearest_ids(
    database: Database, table: Table, source: TableName, vectors: Embeddings, *, k: int, nearer: Statement
) -> list[list[Id]]:
    """Return the ids of the nearest rows for each vector, by the operator `nearer`."""
    query = sql.SQL("SELECT {id}::text FROM {table} ORDER BY {vector} {nearer} {value} LIMIT %s")
    made = query.format(**table.pieces(source), nearer=nearer, value=table.vector_value)
    return [[one for (one,) in database.rows(made, row, k)] for row in vectors.tolist()]


def append_rows(
    database: Database,
    table: Table,
    batch: Batch,
    *,
    source: TableName,
    shadow: TableName,
    left_out: Sequence[FieldPath],
) -> None:
    """Copy rows inside the database, with the vectors of a batch.

    Args:
        database: Where they are.
        table: What the columns are.
        batch: Ids of the rows, and their protected vectors.
        source: Where the rows are.
        shadow: Where they go; rows that are there stay.
        left_out: What does not go along.
    """
    carried = table.carried(left_out)
    query = sql.SQL(
        "INSERT INTO {shadow} ({columns}) OVERRIDING SYSTEM VALUE "
        "SELECT {values} FROM {table} s WHERE s.{id} = %s::text::{kind} ON CONFLICT ({id}) DO NOTHING"
    ).format(
        **table.pieces(source),
        shadow=shadow.sql,
        columns=sql.SQL(", ").join(map(identifier, [table.vectors.name, table.ids.name, *carried])),
        values=sql.SQL(", ").join([table.vector_value, own(table.ids), *carried.values()]),
    )
    database.many(query, list(zip(batch.vectors.tolist(), map(str, batch.ids), strict=True)))


def _vectors(found: Sequence[Any], *, first_row: int) -> Embeddings:
    missing = next((row for row, vector in enumerate(found) if vector is None), None)
    if missing is not None:
        raise InvalidInputError(f"row {first_row + missing} has no vector")
    if len({len(vector) for vector in found}) > 1:
        raise InvalidInputError("the vectors have different numbers of dimensions")
    return np.asarray(found, dtype=np.float32)
