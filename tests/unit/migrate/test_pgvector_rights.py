from __future__ import annotations

import psycopg
from support.pgvector import with_role
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors

from vecveil.migrate import migrate, swap
from vecveil.veil import Guard

RIGHTS = """
    SELECT relname, relowner::regrole::text, relacl::text, attacl::text FROM pg_class
    LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'more'
    WHERE pg_class.oid IN ('notes'::regclass, 'notes_number_seq'::regclass) ORDER BY 1
"""


def test_owner_and_rights_go_along(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    with with_role(pgvector_place, "appuser"), with_role(pgvector_place, "reader"), with_role(pgvector_place, "other"):
        pgvector_place.fill("notes", unit_vectors(4))
        run_sql(
            where,
            "ALTER TABLE notes OWNER TO appuser",
            "REVOKE TRUNCATE ON notes FROM appuser",
            "GRANT SELECT ON notes TO reader WITH GRANT OPTION",
            "GRANT UPDATE (more) ON notes TO PUBLIC",
            "GRANT USAGE ON SEQUENCE notes_number_seq TO reader",
            "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO other",
        )
        before = run_sql(where, RIGHTS)
        with pgvector_place.opened() as store:
            migrate(store, guard)
            shadow = "SELECT has_table_privilege('other', '\"notes-vecveil\"', 'SELECT')"
            assert run_sql(where, shadow) == [(False,)]
            swap(store, guard)
        assert run_sql(where, RIGHTS) == before
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("SET ROLE appuser")
            assert connection.execute("SELECT count(*) FROM notes").fetchone() == (4,)
            connection.execute("INSERT INTO notes (content, embedding) SELECT 'x', embedding FROM notes LIMIT 1")
        run_sql(where, "ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM other")
