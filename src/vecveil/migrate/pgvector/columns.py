"""Columns of a PostgreSQL table, by their use. Imports psycopg."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from psycopg import sql

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.fields import FieldPath
from vecveil.migrate.pgvector.database import Database, TableName, fill_in

TYPES = {
    "vectors": ["vector", "halfvec"],
    # pgvector keeps vectors of zeros and ones as bits.
    "unprotected": ["vector", "halfvec", "sparsevec", "bit", "varbit"],
    # A list of these may be a vector.
    "numbers": ["float4", "float8", "numeric", "int2", "int4", "int8"],
}
"""Types of vectors: those that can be migrated, and those that are left out."""


class PgColumn(NamedTuple):
    """A column of a table."""

    name: str
    type: str  # As SQL writes it.
    computed: bool  # By the table, from other columns.
    vector: bool  # Holds vectors that can be migrated, maybe by a domain.
    unprotected: bool  # Holds vectors in any form: by a domain, in lists, as numbers in a list.
    unique: bool  # Tells rows apart.
    deferred: bool  # Does so at the end of a transaction only.
    primary_key: bool
    keyed: bool  # Is a part of the primary key.

    @property
    def sql(self) -> sql.Composed:
        """The column of the table that is called s in a statement."""
        return sql.SQL("s.{}").format(sql.Identifier(self.name))


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The columns of a table."""

    ids: PgColumn
    vectors: PgColumn  # Those that are migrated.
    others: tuple[PgColumn, ...]  # They may be kept.
    other_vectors: tuple[PgColumn, ...]

    @classmethod
    def find(cls, database: Database, table: TableName, name: str, *, ids: str | None, vectors: str | None) -> Self:
        """Return the columns of a table, by default with the primary key and the only vectors, or raise."""
        found = {row[0]: PgColumn(*row) for row in database.run("columns", table=table.quoted, **TYPES)}
        chosen_ids, chosen = _choose_ids(found, name, ids), _choose_vectors(found, name, vectors)
        # What is computed from other columns is computed anew, from what the shadow has in them.
        rest = [column for column in found.values() if not column.computed and column not in (chosen_ids, chosen)]
        return cls(
            ids=chosen_ids,
            vectors=chosen,
            others=tuple(column for column in rest if not column.unprotected),
            other_vectors=tuple(column for column in rest if column.unprotected),
        )

    def select_carried(self, left_out: Sequence[FieldPath]) -> dict[str, sql.Composed]:
        """Return the other columns that are kept and what is taken of each: all, or JSON without some fields."""
        carried: dict[str, sql.Composed] = {}
        for column in () if () in left_out else self.others:
            paths = [path[1:] for path in left_out if path[0] == column.name]
            if not paths:
                carried[column.name] = column.sql
            elif () not in paths:
                values = {"value": column.sql, "paths": json.dumps(paths), "count": len(paths)}
                carried[column.name] = fill_in("without_fields", **values, type=sql.SQL(column.type))
        return carried


def _choose_ids(found: dict[str, PgColumn], name: str, chosen: str | None) -> PgColumn:
    ids = chosen or next((column.name for column in found.values() if column.primary_key), None)
    if ids is None:
        raise InvalidInputError(f"{name} has no primary key of one column; name a column of ids (--id-column)")
    column = found[one_of(ids, found, f"id column of {name}")]
    if column.deferred and not column.unique:
        raise InvalidInputError(
            f"the key {ids!r} of {name} is deferrable, and does not tell rows apart at once; make it one that is not"
        )
    if not column.unique or column.computed:
        raise InvalidInputError(
            f"{ids!r} does not tell the rows of {name} apart: it is not unique, or empty, or computed from others"
        )
    return column


def _choose_vectors(found: dict[str, PgColumn], name: str, chosen: str | None) -> PgColumn:
    known = [column.name for column in found.values() if column.vector and not column.computed]
    if chosen is None and len(known) != 1:
        raise InvalidInputError(
            f"{name} has {len(known)} columns of vectors; name one (--vector-column): {', '.join(known) or 'none'}"
        )
    return found[known[0] if chosen is None else one_of(chosen, known, f"vector column of {name}")]
