from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.pgvector import running_pgvector
from support.postgres import PostgresServer, run_sql
from support.store_fixtures import *  # noqa: F403
from support.stores import PgvectorPlace


@pytest.fixture(scope="session")
def vector_postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL with pgvector."""
    with running_pgvector() as server:
        yield server


@pytest.fixture
def pgvector_place(vector_postgres: PostgresServer) -> PgvectorPlace:
    """The database, empty."""
    url = vector_postgres.url()
    for (table,) in run_sql(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        run_sql(url, f'DROP TABLE "{table}" CASCADE')
    return PgvectorPlace(where=url)
