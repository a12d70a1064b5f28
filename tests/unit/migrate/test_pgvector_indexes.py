from __future__ import annotations

import pytest
from support.pgvector import migrated
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.migrate import migrate, swap
from vecveil.veil import Guard

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
