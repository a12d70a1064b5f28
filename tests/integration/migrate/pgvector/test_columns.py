from __future__ import annotations

import json

import pytest

from support.pgvector import add, filled, migrated
from support.postgres import run_sql
from support.stores import PgvectorPlace
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import migrate, swap
from vecveil.veil import Guard

ODD_DATES = {
    "date": "infinity",
    "timestamp": "-infinity",
    "timestamptz": "0044-03-15 12:00:00+00 BC",
    "time": "24:00:00",
    "interval": "178000000 years",
    "timestamptz[]": "{infinity,2026-01-01 00:00:00+00}",
    "tstzrange": "[2026-01-01 00:00:00+00,infinity)",
}


def test_vectors_in_any_form_stay_behind_even_when_texts_go_along(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    run_sql(
        pgvector_place.where,
        "DROP DOMAIN IF EXISTS embedded, listed CASCADE",
        "DROP TYPE IF EXISTS pair CASCADE",
        "CREATE DOMAIN embedded AS vector",
        "CREATE DOMAIN listed AS float8[]",
        "CREATE TYPE pair AS (name text, old embedded)",
    )
    forms = {
        "a": "float8[] NOT NULL DEFAULT '{1,2}'",
        "b": "embedded DEFAULT '[1,2]'",
        "c": "vector[] DEFAULT '{\"[1,2]\"}'",
        "d": "listed DEFAULT '{1,2}'",
        "e": "pair DEFAULT '(x,\"[1,2]\")'",
        "f": "sparsevec DEFAULT '{1:1}/2'",
        "g": "bit(2) DEFAULT B'01'",
        "h": "int[] DEFAULT '{1,2}'",
        "i": "pair[] DEFAULT '{}'",
    }
    columns = ", ".join(f"{name} {form}" for name, form in forms.items())
    filled(pgvector_place, f"{columns}, kept text[] DEFAULT '{{x,y}}', embedding vector(8), PRIMARY KEY (number)")
    with pgvector_place.opened(vector_column="embedding") as store:
        assert [*store.other_vectors] == [*forms]
        assert migrate(store, guard, keep_texts=True).left_out == tuple(forms)
    found = run_sql(
        pgvector_place.where, """SELECT to_jsonb(n) - 'embedding' FROM "notes-vecveil" n WHERE number = 1"""
    )
    assert found == [({"number": 1, "kept": ["x", "y"], **dict.fromkeys(forms)},)]


def test_a_domain_may_be_the_column_of_vectors(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    run_sql(
        pgvector_place.where, "DROP DOMAIN IF EXISTS embedded CASCADE", "CREATE DOMAIN embedded AS vector(8) NOT NULL"
    )
    filled(pgvector_place, "embedding embedded, PRIMARY KEY (number)")
    assert migrated(pgvector_place, guard).rows == 4


def test_dates_that_python_has_no_value_for_go_along(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    filled(pgvector_place, "embedding vector(8), PRIMARY KEY (number)")
    for place, (kind, value) in enumerate(ODD_DATES.items()):
        run_sql(where, f"ALTER TABLE notes ADD c{place} {kind} DEFAULT '{value}'")
    texts = "SELECT (to_jsonb(n) - 'embedding')::text FROM notes n ORDER BY number"
    before = run_sql(where, texts)
    with pgvector_place.opened() as store:
        assert migrate(store, guard).left_out == ()
        [batch] = store.read_batches("notes", 9)
        assert batch.payload[0]["c0"] == "infinity"
        swap(store, guard)
    assert run_sql(where, texts) == before


def test_what_is_computed_from_vectors_is_computed_from_protected_ones(
    pgvector_place: PgvectorPlace, guard: Guard
) -> None:
    computed = "half halfvec(8) GENERATED ALWAYS AS (embedding::halfvec(8)) STORED"
    filled(pgvector_place, f"{computed}, embedding vector(8), PRIMARY KEY (number)")
    assert migrated(pgvector_place, guard).rows == 4
    same = "SELECT bool_and(half = embedding::halfvec(8)) FROM notes"
    assert run_sql(pgvector_place.where, same) == [(True,)]
    other = 'SELECT bool_or(n.half = o.half) FROM notes n JOIN "notes-before-vecveil" o USING (number)'
    assert run_sql(pgvector_place.where, other) == [(False,)]


def test_ids_that_are_computed_are_refused(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    computed = "id int GENERATED ALWAYS AS (number + 1) STORED NOT NULL UNIQUE"
    filled(pgvector_place, f"{computed}, embedding vector(8)")
    with pytest.raises(InvalidInputError, match="'id' does not tell the rows of notes apart"):
        migrated(pgvector_place, guard, id_column="id")


def test_names_may_have_percent_signs_and_quotes(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    run_sql(
        where,
        'DROP DOMAIN IF EXISTS "5%" CASCADE',
        'CREATE DOMAIN "5%" AS int',
        'CREATE TABLE "100%" ("%s" "5%", "a""%%" serial, "100%" jsonb, embedding vector(8))',
        'ALTER TABLE "100%" ADD CONSTRAINT "key%" PRIMARY KEY ("%s")',
        'CREATE INDEX "in%dex" ON "100%" ("100%")',
        """INSERT INTO "100%" ("%s", "100%", embedding)
        SELECT n, '{"text": "x", "b%": 1}',
        array_fill(0, ARRAY[n]) || 1 || array_fill(0, ARRAY[7 - n]) FROM generate_series(0, 3) n""",
    )
    assert migrated(pgvector_place, guard, "100%").rows == 4
    found = run_sql(where, """SELECT "%s", "a""%%", "100%" FROM "100%" ORDER BY 1""")
    assert found == [(row, row + 1, {"b%": 1}) for row in range(4)]


def test_texts_inside_json_stay_behind_and_the_rest_of_it_goes_along(
    pgvector_place: PgvectorPlace, guard: Guard
) -> None:
    where = pgvector_place.where
    filled(pgvector_place, "more json, embedding vector(8), old vector(3), PRIMARY KEY (number)")
    run_sql(where, """UPDATE notes SET old = '[1,2,3]', more = '{"a": {"text": "hm", "page": 3}, "b%": 1}'""")
    with pgvector_place.opened(vector_column="embedding") as store:
        assert migrate(store, guard).left_out == ("more.a.text", "old")
    found = run_sql(where, 'SELECT DISTINCT more::jsonb, old FROM "notes-vecveil"')
    assert found == [({"a": {"page": 3}, "b%": 1}, None)]


def test_json_that_is_no_object_goes_along_beside_json_that_is(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    filled(pgvector_place, "more jsonb, embedding vector(8), PRIMARY KEY (number)", rows=0)
    values = [
        '{"a": {"text": "hm", "document": "x", "page": 3}}',
        "null",
        "7",
        '["x"]',
        '{"a": ["x", "y"]}',
        '{"a": "b"}',
    ]
    for row, value in enumerate(values):
        add(pgvector_place, "notes", number=row, more=value)
    migrated(pgvector_place, guard)
    assert [more for (more,) in run_sql(where, "SELECT more::text FROM notes ORDER BY number")] == [
        '{"a": {"page": 3}}',
        *values[1:],
    ]


def test_there_may_be_hundreds_of_texts_inside(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    filled(pgvector_place, "more jsonb, embedding vector(8), PRIMARY KEY (number)", rows=0)
    more = {f"part {part}": {"text": "hm", "page": part, "kind": "x"} for part in range(400)}
    add(pgvector_place, "notes", number=1, more=json.dumps(more))
    migrated(pgvector_place, guard)
    [(found,)] = run_sql(pgvector_place.where, "SELECT more FROM notes")
    assert found == {name: {"page": part["page"], "kind": "x"} for name, part in more.items()}
