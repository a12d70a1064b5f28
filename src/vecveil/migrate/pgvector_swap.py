"""Two tables of PostgreSQL change names, in one transaction. Imports psycopg."""

from __future__ import annotations

from psycopg import sql

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.pgvector_database import Database
from vecveil.migrate.pgvector_indexes import exchange, exchange_indexes
from vecveil.migrate.pgvector_name import TableName, identifier, written_out
from vecveil.migrate.pgvector_obstacles import require_swappable
from vecveil.migrate.pgvector_rights import pass_on_rights

_COUNTERS = sql.SQL(
    """
    SELECT a.attname, a.attidentity <> '', c.oid::regclass::text, c.relname FROM pg_attribute a
    CROSS JOIN LATERAL pg_get_serial_sequence(%s, a.attname) AS counter
    JOIN pg_class c ON c.oid = counter::regclass
    WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
    """
)


def swap_tables(
    database: Database, collection: TableName, shadow: TableName, backup: TableName, *, ids: str, name: str
) -> None:
    """Rename `collection` to `backup` and `shadow` to `collection`, with its owner, rights, counters and names of keys.

    Args:
        database: Where they are.
        collection: The collection.
        shadow: Its shadow.
        backup: What the collection is called afterwards.
        ids: Column of ids.
        name: Name of the collection, for errors.

    Raises:
        InvalidInputError: If something would stay with the old table, or the two have not the same rows.
    """
    with database.together(locking=True):
        # Writers wait from here on, and readers only while the names change, which is the last thing done.
        locked = sql.SQL("LOCK TABLE {}, {} IN SHARE ROW EXCLUSIVE MODE")
        database.rows(locked.format(collection.sql, shadow.sql))
        require_swappable(database, collection, name)
        _require_same_ids(database, collection, shadow, ids, name)
        _pass_on_counters(database, collection, shadow)
        pass_on_rights(database, collection.quoted, shadow.quoted)
        exchange_indexes(database, collection, shadow)
        database.rename(collection, backup)
        database.rename(shadow, collection)


def _require_same_ids(database: Database, collection: TableName, shadow: TableName, ids: str, name: str) -> None:
    query = sql.SQL(
        "SELECT count(*) FILTER (WHERE s.{id} IS NULL), count(*) FILTER (WHERE c.{id} IS NULL) "
        "FROM {collection} c FULL JOIN {shadow} s ON s.{id} = c.{id} WHERE s.{id} IS NULL OR c.{id} IS NULL"
    ).format(id=identifier(ids), collection=collection.sql, shadow=shadow.sql)
    [(missing, left_over)] = database.rows(query)
    if left_over:
        raise InvalidInputError(
            f"{name} has changed since: {left_over:,} rows of {shadow.table} are not in it any more; delete "
            f"{shadow.table}, and migrate again"
        )
    if missing:
        raise InvalidInputError(f"{name} has {missing:,} rows more since; migrate again to add what is missing")


def _pass_on_counters(database: Database, collection: TableName, shadow: TableName) -> None:
    made = {row[0]: row for row in database.rows(_COUNTERS, shadow.quoted, shadow.quoted)}
    for column, identity, counter, name in database.rows(_COUNTERS, collection.quoted, collection.quoted):
        if not identity:
            owner = sql.SQL("{}.{}").format(shadow.sql, identifier(column))
            database.rows(sql.SQL("ALTER SEQUENCE {} OWNED BY {}").format(written_out(counter), owner))
            continue
        _, _, new_counter, new_name = made[column]
        # The shadow's own counter has not moved: its ids were written, not drawn.
        value = sql.SQL("SELECT setval(%s::regclass, last_value, is_called) FROM {}")
        database.rows(value.format(written_out(counter)), new_counter)
        pass_on_rights(database, counter, new_counter)
        exchange(database, "SEQUENCE", collection, name, new_name)
