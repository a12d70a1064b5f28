from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors

from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import compare, migrate, swap
from vecveil.veil import Guard


def add(place: PgvectorPlace, *name: str, **values: object) -> dict[str, Any]:
    """Insert a row, with a vector of length one, and return what it has become."""
    row = {**values, "embedding": str(unit_vectors(1, seed=len(str(values)))[0].tolist())}
    query = sql.SQL("INSERT INTO {} ({}) VALUES ({}) RETURNING *").format(
        sql.Identifier(*name),
        sql.SQL(", ").join(map(sql.Identifier, row)),
        sql.SQL(", ").join([sql.SQL("%s")] * len(row)),
    )
    with psycopg.connect(place.where, autocommit=True, row_factory=dict_row) as connection:
        found = connection.execute(query, [*row.values()]).fetchone()
    assert found is not None
    return found


def filled(place: PgvectorPlace, columns: str, *, rows: int = 4) -> None:
    run_sql(place.where, f"CREATE TABLE notes (number int, {columns})")
    for row in range(rows):
        add(place, "notes", number=10**row)


def migrated(place: PgvectorPlace, guard: Guard, name: str = "notes", **columns: str) -> Any:
    with place.opened(name, **columns) as store:
        migrate(store, guard, batch_rows=3)
        return swap(store, guard)


def test_any_type_of_id_works_and_any_schema(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    run_sql(
        pgvector_place.where,
        'DROP SCHEMA IF EXISTS "my notes" CASCADE',
        'CREATE SCHEMA "my notes"',
        'CREATE TABLE "my notes".notes (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), embedding halfvec(8))',
    )
    for _ in range(4):
        add(pgvector_place, "my notes", "notes")
    assert migrated(pgvector_place, guard, "my notes.notes").rows == 4
    assert run_sql(pgvector_place.where, 'SELECT count(*) FROM "my notes"."notes-before-vecveil"') == [(4,)]


def test_indexes_grants_counters_and_made_columns_go_along(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    where = pgvector_place.where
    columns = (
        "number serial PRIMARY KEY, title varchar(20) UNIQUE, embedding vector(8), "
        "shout text GENERATED ALWAYS AS (upper(title)) STORED"
    )
    run_sql(where, f"CREATE TABLE notes ({columns})")
    for row in range(4):
        add(pgvector_place, "notes", title=f"t {row}")
    run_sql(
        where,
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader",
        "GRANT SELECT ON notes TO reader",
        "GRANT SELECT ON notes TO PUBLIC",
        "CREATE INDEX ON notes USING hnsw (embedding vector_l2_ops)",
        "CREATE INDEX ON notes USING ivfflat (embedding vector_ip_ops) WITH (lists = 1)",
    )
    assert migrated(pgvector_place, guard).rows == 4
    run_sql(where, 'DROP TABLE "notes-before-vecveil"')
    made = add(pgvector_place, "notes", title="new")
    assert (made["number"], made["shout"]) == (5, "NEW")
    found = run_sql(where, "SELECT indexdef FROM pg_indexes WHERE tablename = 'notes'")
    assert {word for (text,) in found for word in ("hnsw", "ivfflat", "UNIQUE") if word in text} == {
        "hnsw",
        "ivfflat",
        "UNIQUE",
    }
    assert run_sql(where, "SELECT has_table_privilege('reader', 'notes', 'SELECT')") == [(True,)]
    run_sql(where, "DROP TABLE notes", "DROP ROLE reader")


def test_an_identity_goes_on_counting(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    pgvector_place.fill("notes", unit_vectors(4))
    migrated(pgvector_place, guard)
    assert add(pgvector_place, "notes", content="x")["number"] == 5


@pytest.mark.parametrize(
    ("what", "statement"),
    [
        ("a foreign key", "CREATE TABLE pages (note bigint REFERENCES notes)"),
        ("a view", "CREATE VIEW titles AS SELECT content FROM notes"),
        ("row-level security", "ALTER TABLE notes ENABLE ROW LEVEL SECURITY"),
        (
            "a trigger",
            "CREATE TRIGGER t BEFORE UPDATE ON notes FOR EACH ROW "
            "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        ),
    ],
)
def test_a_table_that_others_hang_on_is_not_swapped(
    pgvector_place: PgvectorPlace, guard: Guard, what: str, statement: str
) -> None:
    pgvector_place.fill("notes", unit_vectors(4))
    run_sql(pgvector_place.where, statement)
    before = pgvector_place.rows("notes")
    with pytest.raises(InvalidInputError, match=f"notes has {what}, which would stay"):
        migrated(pgvector_place, guard)
    assert pgvector_place.rows("notes") == before


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


def test_columns_that_can_not_be_found_out_are_asked_for(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    filled(pgvector_place, "title text, embedding vector(8), old vector(3)")
    with pytest.raises(InvalidInputError, match="no primary key of one column; name a column of ids"):
        migrated(pgvector_place, guard)
    with pytest.raises(InvalidInputError, match="'number' does not tell the rows of notes apart"):
        migrated(pgvector_place, guard, id_column="number")
    run_sql(pgvector_place.where, "ALTER TABLE notes ADD UNIQUE (number), ALTER COLUMN number SET NOT NULL")
    with pytest.raises(InvalidInputError, match=r"2 columns of vectors; name one .*embedding, old"):
        migrated(pgvector_place, guard, id_column="number")
    assert migrated(pgvector_place, guard, id_column="number", vector_column="embedding").rows == 4


def test_a_row_without_a_vector_is_named(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    filled(pgvector_place, "embedding vector(8), PRIMARY KEY (number)")
    run_sql(pgvector_place.where, "UPDATE notes SET embedding = NULL WHERE number = 1000")
    with pytest.raises(InvalidInputError, match="row 3 has no vector"):
        migrated(pgvector_place, guard)


def test_what_postgres_refuses_is_said_without_a_value(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    columns = "number int PRIMARY KEY, content text CHECK (content IS NOT NULL), embedding vector(8)"
    run_sql(pgvector_place.where, f"CREATE TABLE notes ({columns})")
    text = "the whole of a note that nobody should see"
    add(pgvector_place, "notes", number=1, content=text)
    with pytest.raises(ArtifactError, match="a check of the table forbids") as refused:
        migrated(pgvector_place, guard)
    assert "nobody" not in str(refused.value)


@pytest.mark.parametrize("operators", ["vector_l2_ops", "vector_ip_ops", "vector_cosine_ops"])
def test_a_search_goes_by_the_distance_that_the_table_is_indexed_for(
    pgvector_place: PgvectorPlace, guard: Guard, operators: str
) -> None:
    filled(pgvector_place, "embedding vector(8), PRIMARY KEY (number)", rows=6)
    run_sql(pgvector_place.where, f"CREATE INDEX ON notes USING hnsw (embedding {operators})")
    with pgvector_place.opened() as store:
        migrate(store, guard)
        assert compare(store, guard, unit_vectors(9), k=1).first == 1.0
