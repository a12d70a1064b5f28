from __future__ import annotations

import pytest
from support.pgvector import filled, migrated
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import Batch, migrate
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
            store.append("notes-vecveil", Batch(ids=["1"], vectors=unit_vectors(1), payload=[{}]))
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
