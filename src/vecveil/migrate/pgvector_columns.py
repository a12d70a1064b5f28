"""The columns of a table in PostgreSQL, with what is inside their types. Imports psycopg."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from vecveil.migrate.pgvector_database import Database
from vecveil.migrate.pgvector_name import TableName

VECTORS = ("vector", "halfvec")
"""Types of vectors that can be migrated."""

UNPROTECTED = (*VECTORS, "sparsevec", "bit", "varbit")
"""Types that hold vectors; pgvector keeps those of zeros and ones as bits."""

NUMBERS = ("float4", "float8", "numeric", "int2", "int4", "int8")
"""Types a list of which may be a vector."""

_COLUMNS = sql.SQL(
    """
    WITH RECURSIVE own AS (
      SELECT * FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
    ), inside (root, oid, bare, listed) AS (
      SELECT DISTINCT atttypid, atttypid, true, false FROM own
      UNION
      SELECT i.root, part.oid, i.bare AND part.bare, i.listed OR part.listed
      FROM inside i JOIN pg_type t ON t.oid = i.oid CROSS JOIN LATERAL (
        SELECT t.typbasetype, true, false WHERE t.typbasetype <> 0
        UNION ALL SELECT t.typelem, false, true WHERE t.typelem <> 0 AND t.typcategory = 'A'
        UNION ALL SELECT atttypid, false, false FROM pg_attribute
          WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped
      ) part (oid, bare, listed)
    ), kinds AS (
      SELECT root, bool_or(bare AND typname = ANY (%s)) AS vector,
        bool_or(typname = ANY (%s) OR listed AND typname = ANY (%s)) AS unprotected
      FROM inside JOIN pg_type USING (oid) GROUP BY root
    )
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.attgenerated <> '' AS computed,
      k.vector, k.unprotected, coalesce(i.told AND a.attnotnull, false) AS told, coalesce(i.late, false) AS late,
      coalesce(i.primary_key, false) AS primary_key,
      EXISTS (SELECT FROM pg_index WHERE indrelid = a.attrelid AND indisprimary AND a.attnum = ANY (indkey)) AS keyed
    FROM own a JOIN kinds k ON k.root = a.atttypid LEFT JOIN LATERAL (
      SELECT bool_or(indisunique AND indimmediate AND indisvalid AND indpred IS NULL) AS told,
        bool_or(indisunique AND NOT indimmediate) AS late, bool_or(indisprimary) AS primary_key
      FROM pg_index WHERE indrelid = a.attrelid AND indnkeyatts = 1 AND indkey[0] = a.attnum
    ) i ON true ORDER BY a.attnum
    """
)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column.

    Attributes:
        name: Its name.
        type: Its type, as SQL writes it.
        computed: Whether the table makes its values from other columns.
        vector: Whether it holds vectors that can be migrated, maybe by a domain.
        unprotected: Whether its type holds vectors in any form: by a domain, in lists, as numbers in a list.
        told: Whether it tells rows apart.
        late: Whether it does so at the end of a transaction only.
        primary_key: Whether it is the primary key.
        keyed: Whether it is a part of the primary key.
    """

    name: str
    type: str
    computed: bool
    vector: bool
    unprotected: bool
    told: bool
    late: bool
    primary_key: bool
    keyed: bool


def columns_of(database: Database, table: TableName) -> list[Column]:
    """Return the columns of a table, in their order."""
    return database.records(Column, _COLUMNS, table.quoted, list(VECTORS), list(UNPROTECTED), list(NUMBERS))
