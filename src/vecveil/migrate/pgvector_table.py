"""What the columns of a table in PostgreSQL are for. Imports psycopg."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from psycopg import sql

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.pgvector_columns import Column, columns_of
from vecveil.migrate.pgvector_database import Database, Statement
from vecveil.migrate.pgvector_json import without_fields
from vecveil.migrate.pgvector_name import TableName, identifier, written_out
from vecveil.migrate.texts import FieldPath

DISTANCES = {"l2": "<->", "ip": "<#>", "cosine": "<=>", "l1": "<+>"}
"""Operators by the name in the operator class of an index."""

_OPERATORS = sql.SQL(
    """
    SELECT o.opcname FROM pg_index i JOIN pg_opclass o ON o.oid = i.indclass[0]
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = %s::regclass AND a.attname = %s
    """
)


@dataclass(frozen=True, kw_only=True)
class Table:
    """The columns of a table.

    Attributes:
        ids: Column of ids.
        vectors: Column of the vectors that are migrated.
        others: Columns that may go along.
        never: Other columns of vectors.
    """

    ids: Column
    vectors: Column
    others: tuple[Column, ...]
    never: tuple[Column, ...]

    @classmethod
    def of(cls, database: Database, table: TableName, name: str, *, ids: str | None, vectors: str | None) -> Self:
        """Return what the columns of a table are.

        Args:
            database: Where it is.
            table: The table.
            name: Its name, for errors.
            ids: Column of ids; the primary key where None.
            vectors: Column of vectors; the only one there is where None.
        """
        found = {column.name: column for column in columns_of(database, table)}
        chosen_ids = found[_ids(found, name, ids)]
        chosen = found[_vectors(found, name, vectors)]
        # What is computed from other columns is computed anew, from what the shadow has in them.
        rest = [column for column in found.values() if not column.computed and column not in (chosen_ids, chosen)]
        return cls(
            ids=chosen_ids,
            vectors=chosen,
            others=tuple(column for column in rest if not column.unprotected),
            never=tuple(column for column in rest if column.unprotected),
        )

    def pieces(self, table: TableName) -> dict[str, Any]:
        """Return what most statements are made of: a table, its columns of ids and of vectors, and the ids' type."""
        return {
            "table": table.sql,
            "id": identifier(self.ids.name),
            "kind": written_out(self.ids.type),
            "vector": identifier(self.vectors.name),
        }

    @property
    def vector_value(self) -> Statement:
        """The place of a vector in a statement."""
        return sql.SQL("%s::real[]::{}").format(written_out(self.vectors.type))

    def carried(self, left_out: Sequence[FieldPath]) -> dict[str, Statement]:
        """Return the other columns that go along and what is taken of each: all, or JSON without some of its fields."""
        found: dict[str, Statement] = {}
        for column in () if () in left_out else self.others:
            inside = [path[1:] for path in left_out if path[0] == column.name]
            if () not in inside:
                value = own(column)
                found[column.name] = without_fields(value, inside, column.type) if inside else value
        return found

    def nearer(self, database: Database, table: TableName) -> Statement:
        """Return the operator that the table is indexed for; cosine distance where it has no index."""
        classes = [name for (name,) in database.rows(_OPERATORS, table.quoted, self.vectors.name)]
        known = next((sign for name, sign in DISTANCES.items() if any(f"_{name}_" in one for one in classes)), "<=>")
        return sql.SQL(known)


def own(column: Column) -> Statement:
    """Return a column of the table that is called s."""
    return sql.SQL("s.{}").format(identifier(column.name))


def _ids(found: dict[str, Column], name: str, chosen: str | None) -> str:
    ids = chosen or next((column.name for column in found.values() if column.primary_key), None)
    if ids is None:
        raise InvalidInputError(f"{name} has no primary key of one column; name a column of ids (--id-column)")
    column = found[one_of(ids, found, f"id column of {name}")]
    if column.late and not column.told:
        raise InvalidInputError(
            f"the key {ids!r} of {name} is deferrable, and does not tell rows apart at once; make it one that is not"
        )
    if not column.told or column.computed:
        raise InvalidInputError(
            f"{ids!r} does not tell the rows of {name} apart: it is not unique, or empty, or computed from others"
        )
    return ids


def _vectors(found: dict[str, Column], name: str, chosen: str | None) -> str:
    known = [column.name for column in found.values() if column.vector and not column.computed]
    if chosen is not None:
        return one_of(chosen, known, f"vector column of {name}")
    if len(known) != 1:
        raise InvalidInputError(
            f"{name} has {len(known)} columns of vectors; name one (--vector-column): {', '.join(known) or 'none'}"
        )
    return known[0]
