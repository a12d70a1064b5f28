"""An empty table of PostgreSQL that is like another, and its search index once it is full. Imports psycopg."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import sql

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.marking import written
from vecveil.migrate.pgvector_database import Database
from vecveil.migrate.pgvector_indexes import paired
from vecveil.migrate.pgvector_name import TableName, identifier
from vecveil.migrate.pgvector_rights import keep_private
from vecveil.migrate.pgvector_table import Table

_MADE = sql.SQL(
    """
    SELECT format('CREATE %%sTABLE %%s (LIKE %%s INCLUDING ALL) USING %%I%%s',
      CASE relpersistence WHEN 'u' THEN 'UNLOGGED ' END, %s::text, c.oid::regclass, amname,
      ' TABLESPACE ' || quote_ident(spcname))
    FROM pg_class c JOIN pg_am a ON a.oid = c.relam LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
    WHERE c.oid = %s::regclass
    """
)

# What LIKE does not take along.
_SETTINGS = sql.SQL(
    """
    WITH pair AS (SELECT %s::regclass AS old, %s::regclass AS new)
    SELECT format('ALTER TABLE %%s SET (%%s%%I = %%L)', new, place, option_name, option_value)
    FROM pair CROSS JOIN LATERAL (
      SELECT '', reloptions FROM pg_class WHERE oid = old
      UNION ALL SELECT 'toast.', t.reloptions FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid
        WHERE c.oid = old
    ) kept (place, options) CROSS JOIN LATERAL pg_options_to_table(options)
    UNION ALL SELECT format('ALTER TABLE %%s ALTER %%I SET STATISTICS %%s', new, attname, attstattarget)
    FROM pair JOIN pg_attribute ON attrelid = old WHERE attnum > 0 AND NOT attisdropped AND attstattarget >= 0
    UNION ALL SELECT format('ALTER TABLE %%s ALTER %%I SET (%%I = %%L)', new, attname, option_name, option_value)
    FROM pair JOIN pg_attribute ON attrelid = old CROSS JOIN LATERAL pg_options_to_table(attoptions)
    WHERE attnum > 0 AND NOT attisdropped
    UNION ALL SELECT format('ALTER TABLE %%s REPLICA IDENTITY %%s', new, identity)
    FROM pair JOIN pg_class ON pg_class.oid = old
    JOIN (VALUES ('f', 'FULL'), ('n', 'NOTHING')) kind (letter, identity) ON letter = relreplident::text
    """
)

# An index that was never made anew is in the file that it began in, which is called by its number.
_LISTS = sql.SQL(
    """
    SELECT format('REINDEX INDEX %%s', c.oid::regclass) FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
    WHERE i.indrelid = %s::regclass AND a.amname = 'ivfflat' AND (c.relfilenode = c.oid OR %s)
    """
)


def create_shadow(
    database: Database, table: Table, collection: TableName, shadow: TableName, mark: Mapping[str, Any]
) -> None:
    """Make an empty table like the collection, with its mark, in which columns that are left out may be empty."""
    carried = table.carried([tuple(path) for path in mark["left_out"]])
    gone = [column for column in (*table.others, *table.never) if column.name not in carried]
    keyed = [column.name for column in gone if column.keyed]
    if keyed:
        raise InvalidInputError(
            f"{', '.join(keyed)} would be left out, and can't be: the primary key of {collection.table} is made of it"
        )
    emptied = sql.SQL("ALTER TABLE {0} ALTER COLUMN {1} DROP NOT NULL, ALTER COLUMN {1} DROP DEFAULT")
    comment = sql.SQL("COMMENT ON TABLE {} IS {}")
    with database.together():
        database.run_written(_MADE, shadow.quoted, collection.quoted)
        keep_private(database, collection.quoted, shadow.quoted)
        database.run_written(_SETTINGS, collection.quoted, shadow.quoted)
        for column in gone:
            database.rows(emptied.format(shadow.sql, identifier(column.name)))
        said = sql.Literal(written(mark).replace("%", "%%"))
        database.rows(comment.format(shadow.sql, said))
        paired(database, collection, shadow)


def finish_shadow(database: Database, shadow: TableName, *, grown: bool) -> None:
    """Make the lists of IVFFlat indexes anew: those of a table that was empty, or smaller, find little.

    Args:
        database: Where it is.
        shadow: The table.
        grown: Whether rows were added since.
    """
    database.run_written(_LISTS, shadow.quoted, grown)
    database.rows(sql.SQL("ANALYZE {}").format(shadow.sql))
