from __future__ import annotations

import pytest
from support.pgvector import add, migrated
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.veil import Guard

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
