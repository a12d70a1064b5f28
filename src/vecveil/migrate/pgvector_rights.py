"""Who owns a table in PostgreSQL and who may do what with it, for the one that takes its place. Imports psycopg."""

from __future__ import annotations

from psycopg import sql

from vecveil.migrate.pgvector_database import Database

_OWNER = sql.SQL(
    """
    WITH pair AS (SELECT %s::regclass AS old, %s::regclass AS new)
    SELECT format('ALTER TABLE %%s OWNER TO %%I', new, pg_get_userbyid(relowner))
    FROM pair JOIN pg_class ON pg_class.oid = old
    """
)

_CLOSED = sql.SQL(
    """
    WITH pair AS (SELECT %s::regclass AS old, %s::regclass AS new)
    SELECT DISTINCT format('REVOKE ALL ON %%s FROM %%s CASCADE', new, coalesce(quote_ident(rolname), 'PUBLIC'))
    FROM pair JOIN pg_class c ON c.oid = new CROSS JOIN LATERAL aclexplode(c.relacl) acl
    LEFT JOIN pg_roles r ON r.oid = acl.grantee WHERE acl.grantee <> c.relowner
    """
)

_OWN_RIGHTS = sql.SQL(
    """
    WITH pair AS (SELECT %s::regclass AS old, %s::regclass AS new)
    SELECT format('REVOKE ALL ON %%s FROM %%I', new, pg_get_userbyid(relowner))
    FROM pair JOIN pg_class ON pg_class.oid = old WHERE relacl IS NOT NULL
    """
)

_GRANTS = sql.SQL(
    """
    WITH pair AS (SELECT %s::regclass AS old, %s::regclass AS new)
    SELECT format('GRANT %%s%%s ON %%s TO %%s%%s', acl.privilege_type, ' (' || quote_ident(given.attname) || ')', new,
      coalesce(quote_ident(r.rolname), 'PUBLIC'), CASE WHEN acl.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM pair CROSS JOIN LATERAL (
      SELECT NULL::name, relacl FROM pg_class WHERE oid = old
      UNION ALL SELECT attname, attacl FROM pg_attribute WHERE attrelid = old AND attnum > 0 AND NOT attisdropped
    ) given (attname, rights) CROSS JOIN LATERAL aclexplode(given.rights) acl
    LEFT JOIN pg_roles r ON r.oid = acl.grantee
    """
)


def keep_private(database: Database, old: str, new: str) -> None:
    """Give a new table to the owner of an old one, and to nobody else, whatever new tables are open to.

    Args:
        database: Where they are.
        old: Name of the old table, quoted.
        new: Name of the new one, quoted.
    """
    database.run_written(_OWNER, old, new)
    database.run_written(_CLOSED, old, new)


def pass_on_rights(database: Database, old: str, new: str) -> None:
    """Give a new table, or sequence, the owner of an old one and the rights on it, those on single columns too.

    Args:
        database: Where they are.
        old: Name of the old table, quoted.
        new: Name of the new one, quoted.
    """
    keep_private(database, old, new)
    # An owner may have taken rights from itself.
    database.run_written(_OWN_RIGHTS, old, new)
    database.run_written(_GRANTS, old, new)
