from __future__ import annotations

import psycopg
import pytest

from support.pgvector import add, filled, migrated, with_role
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import Batch, drop_backup, migrate, swap
from vecveil.veil import Guard

FILES = """
    SELECT relfilenode, relfilenode = c.oid FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'ivfflat'
    ORDER BY c.oid
"""


def test_lists_of_ivfflat_are_made_when_the_rows_are_there_and_not_again(
    pgvector_place: PgvectorPlace, guard: Guard
) -> None:
    pgvector_place.fill("notes", unit_vectors(4))
    run_sql(pgvector_place.where, "CREATE INDEX ON notes USING ivfflat (embedding vector_ip_ops) WITH (lists = 1)")
    begun = run_sql(pgvector_place.where, FILES)
    with pgvector_place.opened() as store:
        migrate(store, guard)
    made = run_sql(pgvector_place.where, FILES)
    assert made[0] == begun[0]
    assert not made[1][1]
    pgvector_place.fill("notes", unit_vectors(2, seed=5), first=9)
    with pgvector_place.opened() as store:
        migrate(store, guard)
    grown = run_sql(pgvector_place.where, FILES)
    assert grown[1] != made[1]
    migrated(pgvector_place, guard)
    assert run_sql(pgvector_place.where, FILES) == grown


def test_a_part_of_the_primary_key_is_not_left_out(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    columns = "text text DEFAULT 'x', embedding vector(8), UNIQUE (number), PRIMARY KEY (number, text)"
    filled(pgvector_place, columns)
    with pytest.raises(InvalidInputError, match="text would be left out, and can't be: the primary key of notes"):
        migrated(pgvector_place, guard, id_column="number")
    assert pgvector_place.rows("notes-vecveil") is None


def test_nothing_is_added_to_a_shadow_that_has_lost_its_mark(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    pgvector_place.fill("notes", unit_vectors(4))
    with pgvector_place.opened() as store:
        migrate(store, guard)
        run_sql(pgvector_place.where, 'DELETE FROM "notes-vecveil"', 'COMMENT ON TABLE "notes-vecveil" IS NULL')
        with pytest.raises(ArtifactError, match="notes-vecveil has lost its mark"):
            store.append(Batch(ids=["1"], vectors=unit_vectors(1), payload=[{}]))
    assert pgvector_place.rows("notes-vecveil") == {}


def test_settings_of_the_table_go_along(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    pgvector_place.fill("notes", unit_vectors(4))
    run_sql(
        where,
        "ALTER TABLE notes SET (fillfactor = 70, toast.autovacuum_enabled = false)",
        "ALTER TABLE notes ALTER more SET STATISTICS 7, ALTER more SET (n_distinct = 3)",
        "ALTER TABLE notes SET UNLOGGED",
        "ALTER TABLE notes REPLICA IDENTITY USING INDEX notes_pkey",
        "ALTER TABLE notes CLUSTER ON notes_pkey",
    )
    settings = """
        SELECT c.relpersistence, c.relreplident, c.reloptions, t.reloptions, i.indisreplident, i.indisclustered,
          array_agg(a.attstattarget || coalesce(a.attoptions::text, '') ORDER BY a.attnum)
        FROM pg_class c JOIN pg_class t ON t.oid = c.reltoastrelid JOIN pg_index i ON i.indrelid = c.oid
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 WHERE c.oid = 'notes'::regclass
        GROUP BY 1, 2, 3, 4, 5, 6
    """
    before = run_sql(where, settings)
    migrated(pgvector_place, guard)
    assert run_sql(where, settings) == before


NAMES = "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'notes'::regclass ORDER BY 1"


def test_indexes_and_keys_keep_their_names(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where, long = pgvector_place.where, "i" * 62
    pgvector_place.fill("notes", unit_vectors(4))
    run_sql(
        where,
        "ALTER TABLE notes ADD COLUMN gone int, ADD COLUMN span int4range, ADD COLUMN page int",
        "ALTER TABLE notes DROP COLUMN gone, ADD EXCLUDE USING gist (span WITH &&), ADD EXCLUDE (page WITH =)",
        "CREATE UNIQUE INDEX by_page ON notes (page) INCLUDE (more) WHERE page > 3",
        f"CREATE INDEX {long}1 ON notes (lower(content))",
        f"CREATE INDEX {long}2 ON notes (lower(content))",
        'CREATE INDEX "a USING b" ON notes USING hnsw (embedding vector_ip_ops) WITH (m = 4)',
        # A name that an earlier backup has left.
        'CREATE TABLE archive (id int, CONSTRAINT "notes_pkey-before-vecveil" PRIMARY KEY (id))',
    )
    shapes = "SELECT indexdef FROM pg_indexes WHERE tablename = 'notes' ORDER BY indexname"
    before = run_sql(where, NAMES), run_sql(where, shapes)
    migrated(pgvector_place, guard)
    assert (run_sql(where, NAMES), run_sql(where, shapes)) == before
    run_sql(
        where,
        "INSERT INTO notes (number, more) OVERRIDING SYSTEM VALUE VALUES (1, NULL) "
        "ON CONFLICT ON CONSTRAINT notes_pkey DO NOTHING",
    )
    assert run_sql(where, "SELECT to_regclass('\"notes_pkey-before-vecveil-2\"') IS NOT NULL") == [(True,)]


def test_an_index_that_came_since_must_be_on_the_shadow_too(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    pgvector_place.fill("notes", unit_vectors(4))
    with pgvector_place.opened() as store:
        migrate(store, guard)
        run_sql(where, "CREATE INDEX late ON notes (more)")
        with pytest.raises(InvalidInputError, match="notes-vecveil lacks indexes of notes: late"):
            swap(store, guard)
        run_sql(where, 'CREATE INDEX ON "notes-vecveil" (more)')
        swap(store, guard)
    assert ("late",) in run_sql(where, NAMES)


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


def test_indexes_counters_and_made_columns_go_along(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    columns = (
        "number serial PRIMARY KEY, title varchar(20) UNIQUE DEFERRABLE, embedding vector(8), "
        "shout text GENERATED ALWAYS AS (upper(title)) STORED"
    )
    run_sql(where, f"CREATE TABLE notes ({columns})")
    for row in range(4):
        add(pgvector_place, "notes", title=f"t {row}")
    run_sql(
        where,
        "CREATE INDEX ON notes USING hnsw (embedding vector_l2_ops)",
        "CREATE INDEX ON notes USING ivfflat (embedding vector_ip_ops) WITH (lists = 1)",
        "CREATE STATISTICS together ON number, title FROM notes",
    )
    assert migrated(pgvector_place, guard).rows == 4
    run_sql(where, 'DROP TABLE "notes-before-vecveil"')
    made = add(pgvector_place, "notes", title="new")
    assert (made["number"], made["shout"]) == (5, "NEW")
    found = run_sql(where, "SELECT indexdef FROM pg_indexes WHERE tablename = 'notes'")
    words = {"hnsw", "ivfflat", "UNIQUE"}
    assert {word for (text,) in found for word in words if word in text} == words


def test_an_identity_goes_on_counting_under_its_name(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    pgvector_place.fill("notes", unit_vectors(4))
    migrated(pgvector_place, guard)
    assert add(pgvector_place, "notes", content="x")["number"] == 5
    assert run_sql(pgvector_place.where, "SELECT nextval('notes_number_seq')") == [(6,)]


@pytest.mark.parametrize("changed", ["DELETE FROM notes WHERE number = 1", "SELECT 1"])
def test_ids_are_compared_both_ways_under_the_lock(pgvector_place: PgvectorPlace, guard: Guard, changed: str) -> None:
    pgvector_place.fill("notes", unit_vectors(4))
    with pgvector_place.opened() as store:
        migrate(store, guard)
        run_sql(pgvector_place.where, changed)
        pgvector_place.fill("notes", unit_vectors(1, seed=3), first=7)
        before = pgvector_place.rows("notes")
        told = "1 rows of notes-vecveil are not in it any more" if "DELETE" in changed else "notes has 1 rows more"
        with pytest.raises(InvalidInputError, match=told):
            store.swap()
    assert pgvector_place.rows("notes") == before


def test_a_backup_is_dropped_and_nothing_else(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    columns = "counted serial, embedding vector(8), PRIMARY KEY (number)"
    filled(pgvector_place, columns)
    assert migrated(pgvector_place, guard).backup == "notes-before-vecveil"
    with pgvector_place.opened() as store:
        drop_backup(store, guard)
        assert store.count("notes-before-vecveil") is None
        assert store.count("notes") == 4
    assert add(pgvector_place, "notes", number=5)["counted"] == 5
