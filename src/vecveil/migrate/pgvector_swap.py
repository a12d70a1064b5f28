"""Two tables of PostgreSQL change names, in one transaction. Imports psycopg."""

from __future__ import annotations

from psycopg import sql

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.pgvector_database import Database, TableName

_LEFT_BEHIND = sql.SQL(
    """
    WITH old AS (SELECT %s::regclass AS oid)
    SELECT 'a foreign key' FROM pg_constraint, old WHERE contype = 'f' AND old.oid IN (conrelid, confrelid)
    UNION SELECT 'a trigger' FROM pg_trigger, old WHERE tgrelid = old.oid AND NOT tgisinternal
    UNION SELECT 'row-level security' FROM pg_class c, old WHERE c.oid = old.oid AND relrowsecurity
    UNION SELECT 'partitions or heirs' FROM pg_inherits, old WHERE old.oid IN (inhrelid, inhparent)
    UNION SELECT 'a view' FROM pg_depend d, pg_rewrite r, old
      WHERE d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND d.refobjid = old.oid AND r.ev_class <> old.oid
    ORDER BY 1
    """
)

_GRANTS = sql.SQL(
    """
    SELECT CASE WHEN grantee = 0 THEN NULL ELSE pg_get_userbyid(grantee) END, privilege_type
    FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = %s::regclass AND grantee <> relowner
    """
)

_NUMBERED = sql.SQL(
    """
    SELECT attname, attidentity <> '', pg_get_serial_sequence(%s, attname) FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped
      AND pg_get_serial_sequence(%s, attname) IS NOT NULL
    """
)


def swap_tables(database: Database, collection: TableName, shadow: TableName, backup: TableName) -> None:
    """Rename `collection` to `backup` and `shadow` to `collection`, with its grants and its counters.

    Raises:
        InvalidInputError: If something hangs on the table itself, which a new name would not take along.
    """
    with database.together():
        database.rows(sql.SQL("LOCK TABLE {}, {}").format(collection.sql, shadow.sql))
        left_behind = [what for (what,) in database.rows(_LEFT_BEHIND, collection.quoted)]
        if left_behind:
            raise InvalidInputError(
                f"{collection.name} has {', '.join(left_behind)}, which would stay with the old table; swap by hand: "
                f"the protected rows are in {shadow.name}"
            )
        counts = [database.rows(sql.SQL("SELECT count(*) FROM {}").format(one.sql)) for one in (collection, shadow)]
        if counts[0] != counts[1]:
            raise InvalidInputError(f"{collection.name} has changed since; migrate again to add what is missing")
        _pass_on(database, collection, shadow)
        database.rename(collection, backup)
        database.rename(shadow, collection)


def _pass_on(database: Database, collection: TableName, shadow: TableName) -> None:
    for role, privilege in database.rows(_GRANTS, collection.quoted):
        who = sql.SQL("PUBLIC") if role is None else sql.Identifier(role)
        database.rows(sql.SQL("GRANT {} ON {} TO {}").format(sql.SQL(privilege), shadow.sql, who))
    for column, identity, counter in database.rows(_NUMBERED, *[collection.quoted] * 3):
        if identity:
            # The shadow's own counter has not moved: its ids were written, not drawn.
            value = sql.SQL("SELECT setval(pg_get_serial_sequence(%s, %s), last_value, is_called) FROM {}")
            database.rows(value.format(sql.SQL(counter)), shadow.quoted, column)
        else:
            owner = sql.Identifier(*shadow.parts, column)
            database.rows(sql.SQL("ALTER SEQUENCE {} OWNED BY {}").format(sql.SQL(counter), owner))
