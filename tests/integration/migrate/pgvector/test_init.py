from __future__ import annotations

import secrets

import pytest

from support.pgvector import add, filled, migrated
from support.postgres import PostgresServer, run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError, InvalidInputError
from vecveil.migrate import compare, migrate, open_store
from vecveil.veil import Guard


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
    run_sql(pgvector_place.where, 'DROP SCHEMA "my notes" CASCADE')


def test_columns_are_found_or_asked_for(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    filled(pgvector_place, "title text, embedding vector(8), old vector(3)")
    with pytest.raises(InvalidInputError, match="no primary key of one column; name a column of ids"):
        migrated(pgvector_place, guard)
    with pytest.raises(InvalidInputError, match="'number' does not tell the rows of notes apart"):
        migrated(pgvector_place, guard, id_column="number")
    run_sql(pgvector_place.where, "ALTER TABLE notes ADD UNIQUE (number), ALTER COLUMN number SET NOT NULL")
    with pytest.raises(InvalidInputError, match=r"have 2 vectors; name one .*embedding, old"):
        migrated(pgvector_place, guard, id_column="number")
    with pgvector_place.opened(id_column="number", vector_column="embedding") as store:
        assert store.columns == {"id_column": "number", "vector_column": "embedding"}
    run_sql(pgvector_place.where, "ALTER TABLE notes DROP COLUMN old, ADD PRIMARY KEY (number)")
    with pgvector_place.opened() as store:
        assert store.columns == {"id_column": "number", "vector_column": "embedding"}
    assert migrated(pgvector_place, guard).rows == 4


def test_a_key_that_is_deferrable_is_refused(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    filled(pgvector_place, "embedding vector(8), PRIMARY KEY (number) DEFERRABLE")
    with pytest.raises(InvalidInputError, match="the key 'number' of notes is deferrable"):
        migrated(pgvector_place, guard)


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
    with pytest.raises(ArtifactError, match=r"a check of the table forbids.*notes_content_check") as refused:
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


TABLES = "SELECT schemaname || '.' || tablename FROM pg_tables WHERE schemaname IN ('app', 'public') ORDER BY 1"


def test_all_stays_in_the_schema_that_the_search_path_leads_to(
    pgvector_place: PgvectorPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = pgvector_place.where
    run_sql(
        where,
        "DROP SCHEMA IF EXISTS app CASCADE",
        "CREATE SCHEMA app",
        "CREATE TABLE app.notes (number serial PRIMARY KEY, embedding vector(8))",
    )
    for _ in range(4):
        add(pgvector_place, "app", "notes")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=public,app")
    assert migrated(pgvector_place, guard).rows == 4
    assert run_sql(where, TABLES) == [("app.notes",), ("app.notes-before-vecveil",)]
    assert run_sql(where, "SELECT count(*) FROM app.notes") == [(4,)]
    run_sql(where, "DROP SCHEMA app CASCADE")


def test_a_name_is_refused_where_those_beside_it_would_be_cut(pgvector_place: PgvectorPlace, guard: Guard) -> None:
    longest = "ü" * 24
    pgvector_place.fill(longest, unit_vectors(4))
    assert migrated(pgvector_place, guard, longest).backup == f"{longest}-before-vecveil"
    with pytest.raises(InvalidInputError, match="at most 48 bytes, got 49"):
        migrated(pgvector_place, guard, f"{longest}x")
    with pytest.raises(InvalidInputError, match="at most 48 bytes, got 49"):
        migrated(pgvector_place, guard, f"public.{longest}x")


def test_a_password_is_never_shown(vector_postgres: PostgresServer) -> None:
    wrong = secrets.token_hex(8)
    with pytest.raises(ArtifactError, match="cannot be opened") as refused:
        open_store(vector_postgres.url(password=wrong), "notes")
    assert wrong not in str(refused.value)
