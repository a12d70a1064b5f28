from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.postgres import PostgresServer, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL server."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def ledger_place(postgres: PostgresServer) -> str:
    """The URL of a database in which a ledger can be made."""
    return postgres.without_ledger()
