"""What the columns of a table in PostgreSQL are. Imports psycopg."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from psycopg import sql

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.pgvector_database import Database, Statement, TableName
from vecveil.migrate.texts import Path

VECTORS = ("vector", "halfvec")
UNPROTECTED = (*VECTORS, "sparsevec")

DISTANCES = {"l2": "<->", "ip": "<#>", "cosine": "<=>", "l1": "<+>"}
"""Operators by the name in the operator class of an index."""

_COLUMNS = sql.SQL(
    """
    SELECT a.attname, format_type(a.atttypid, a.atttypmod), t.typname, a.attgenerated <> '',
      coalesce(bool_or(i.indisunique AND i.indpred IS NULL AND a.attnotnull), false),
      coalesce(bool_or(i.indisprimary), false)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum
    WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
    GROUP BY a.attnum, a.attname, a.atttypid, a.atttypmod, t.typname, a.attgenerated ORDER BY a.attnum
    """
)

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
        types: Type of each column, as SQL writes it.
    """

    ids: str
    vectors: str
    others: tuple[str, ...]
    never: tuple[str, ...]
    types: dict[str, str]

    @classmethod
    def of(cls, database: Database, quoted: str, name: str, *, ids: str | None, vectors: str | None) -> Self:
        """Return what the columns of a table are.

        Args:
            database: Where it is.
            quoted: Its name, quoted.
            name: Its name, for errors.
            ids: Column of ids; the primary key where None.
            vectors: Column of vectors; the only one there is where None.
        """
        found = database.rows(_COLUMNS, quoted)
        columns = [column for column, *_ in found]
        chosen_id = ids or next((column for column, *_, primary in found if primary), None)
        if chosen_id is None:
            raise InvalidInputError(f"{name} has no primary key of one column; name a column of ids (--id-column)")
        one_of(chosen_id, columns, f"id column of {name}")
        if not next(unique for column, _, _, _, unique, _ in found if column == chosen_id):
            raise InvalidInputError(f"{chosen_id!r} does not tell the rows of {name} apart: it is not unique, or empty")
        known = [column for column, _, kind, *_ in found if kind in VECTORS]
        if vectors is not None:
            one_of(vectors, known, f"vector column of {name}")
        elif len(known) != 1:
            raise InvalidInputError(
                f"{name} has {len(known)} columns of vectors; name one (--vector-column): {', '.join(known) or 'none'}"
            )
        chosen = vectors or known[0]
        never = tuple(column for column, _, kind, *_ in found if kind in UNPROTECTED and column != chosen)
        made = {column for column, _, _, generated, _, _ in found if generated}
        return cls(
            ids=chosen_id,
            vectors=chosen,
            others=tuple(column for column in columns if column not in {chosen_id, chosen, *never, *made}),
            never=never,
            types={column: kind for column, kind, *_ in found},
        )

    def pieces(self, name: str) -> dict[str, Any]:
        """Return what most statements are made of: a table, its column of ids, and their type."""
        return {"table": TableName(name).sql, "id": sql.Identifier(self.ids), "kind": sql.SQL(self.types[self.ids])}

    def own(self, column: str) -> Statement:
        """Return a column of the table that is called s."""
        return sql.SQL("s.{}").format(sql.Identifier(column))

    @property
    def vector_value(self) -> Statement:
        """The place of a vector in a statement."""
        return sql.SQL("%s::real[]::{}").format(sql.SQL(self.types[self.vectors]))

    def carried(self, left_out: Sequence[Path]) -> dict[str, Statement]:
        """Return the other columns that go along and what is taken of each: all, or JSON without some of its fields."""
        found: dict[str, Statement] = {}
        for column in self.others:
            inside = [path[1:] for path in left_out if path[0] == column]
            if () in inside:
                continue
            value = self.own(column)
            for path in inside:
                place = sql.SQL(", ").join(sql.Literal(name.replace("%", "%%")) for name in path)
                value = sql.SQL("({}::jsonb #- ARRAY[{}])").format(value, place)
            found[column] = sql.SQL("{}::{}").format(value, sql.SQL(self.types[column])) if inside else value
        return found

    def nearer(self, database: Database, quoted: str) -> Statement:
        """Return the operator that the table is indexed for; cosine distance where it has no index."""
        classes = [name for (name,) in database.rows(_OPERATORS, quoted, self.vectors)]
        known = next((sign for name, sign in DISTANCES.items() if any(f"_{name}_" in one for one in classes)), "<=>")
        return sql.SQL(known)
