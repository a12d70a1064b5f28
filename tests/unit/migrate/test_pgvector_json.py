from __future__ import annotations

import json

from support.pgvector import add, filled, migrated
from support.postgres import run_sql
from support.stores import PgvectorPlace

from vecveil.migrate import migrate
from vecveil.veil import Guard


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
