from __future__ import annotations

import pytest
from support.pgvector import add, filled, migrated
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.migrate import drop_backup, migrate
from vecveil.veil import Guard


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
            store.swap("notes-vecveil", "notes-before-vecveil")
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
