"""What stands in the way of a swap of tables in PostgreSQL. Imports psycopg."""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from vecveil.core.errors import InvalidInputError
from vecveil.migrate.pgvector_database import Database
from vecveil.migrate.pgvector_name import TableName

_RIGHTS = sql.SQL(
    """
    SELECT relkind = 'r' AS ordinary, pg_get_userbyid(relowner) AS owner, pg_has_role(relowner, 'USAGE') AS owned,
      nspname AS schema, CASE
        WHEN NOT has_schema_privilege(n.oid, 'CREATE') THEN current_user
        WHEN NOT me.rolsuper AND NOT has_schema_privilege(relowner, n.oid, 'CREATE') THEN pg_get_userbyid(relowner)
      END AS powerless
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles me ON me.rolname = current_user
    WHERE c.oid = %s::regclass
    """
)

# PostgreSQL knows all that depends on a table. What is named here goes along with its rows; all the rest does not.
_STAYING = sql.SQL(
    """
    WITH old AS (
      SELECT c.*, t.typarray FROM pg_class c LEFT JOIN pg_type t ON t.oid = c.reltype WHERE c.oid = %s::regclass
    )
    SELECT pg_describe_object(d.classid, d.objid, d.objsubid) FROM old JOIN pg_depend d
      ON d.refclassid = 'pg_class'::regclass AND d.refobjid = old.oid
      OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (old.reltype, old.typarray)
    WHERE NOT CASE d.classid
      WHEN 'pg_class'::regclass THEN d.objid = old.oid OR EXISTS (
        SELECT FROM pg_class WHERE oid = d.objid
          AND (relkind IN ('i', 't') OR relkind = 'S' AND d.deptype IN ('a', 'i'))
      )
      WHEN 'pg_type'::regclass THEN d.objid IN (old.reltype, old.typarray)
      WHEN 'pg_attrdef'::regclass THEN EXISTS (SELECT FROM pg_attrdef WHERE oid = d.objid AND adrelid = old.oid)
      WHEN 'pg_constraint'::regclass THEN EXISTS (
        SELECT FROM pg_constraint WHERE oid = d.objid AND conrelid = old.oid AND contype IN ('p', 'u', 'x', 'c', 'n')
      )
      ELSE d.classid IN ('pg_statistic_ext'::regclass, 'pg_publication_rel'::regclass)
    END
    UNION SELECT 'publication ' || p.pubname FROM old JOIN pg_publication_tables p
      ON p.schemaname = old.relnamespace::regnamespace::name AND p.tablename = old.relname
    UNION SELECT 'subscription ' || s.subname FROM old JOIN pg_subscription_rel r ON r.srrelid = old.oid
      JOIN pg_subscription s ON s.oid = r.srsubid
    UNION SELECT 'security label of ' || provider FROM old JOIN pg_seclabel
      ON classoid = 'pg_class'::regclass AND objoid = old.oid
    UNION SELECT 'parent ' || inhparent::regclass FROM old JOIN pg_inherits ON inhrelid = old.oid
    UNION SELECT 'row-level security' FROM old WHERE relrowsecurity OR relforcerowsecurity
    ORDER BY 1
    """
)


@dataclass(frozen=True, kw_only=True)
class _Rights:
    ordinary: bool
    owner: str
    owned: bool
    schema: str
    powerless: str | None


def require_swappable(database: Database, table: TableName, name: str) -> None:
    """Raise where a table can't be swapped, or where something would stay with the old one, with its name.

    Args:
        database: Where it is.
        table: The table.
        name: Its name, for errors.
    """
    [found] = database.records(_Rights, _RIGHTS, table.quoted)
    if not found.ordinary:
        raise InvalidInputError(f"{name} is no ordinary table, and can't be swapped: a view, or one with partitions")
    if not found.owned:
        raise InvalidInputError(
            f"{name} belongs to {found.owner}; only who has all rights of {found.owner} can swap it"
        )
    if found.powerless:
        raise InvalidInputError(f"{found.powerless} may not create tables in the schema {found.schema}, beside {name}")
    staying = [what for (what,) in database.rows(_STAYING, table.quoted)]
    if staying:
        raise InvalidInputError(
            f"{name} can't be swapped, as these would stay with the old table: {', '.join(staying)}; take them "
            "off first, where you can do without them for so long, and make them anew after the swap"
        )
