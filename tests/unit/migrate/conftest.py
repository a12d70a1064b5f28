from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.embedders import WordEmbedder
from support.pgvector import running_pgvector
from support.postgres import PostgresServer, run_sql
from support.stores import PLACES, PgvectorPlace, Place
from support.veils import made_veil, unit_vectors

from vecveil.artifacts.key_file import write_key
from vecveil.core.arrays import Embeddings
from vecveil.core.key import Key
from vecveil.migrate import migrate
from vecveil.veil import Guard

ROWS = 23


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


@pytest.fixture(params=[*PLACES, "pgvector"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Each of the stores, empty."""
    if request.param == "pgvector":
        found: Place = request.getfixturevalue("pgvector_place")
        return found
    (tmp_path / "store").mkdir()
    return PLACES[request.param](where=f"{request.param}:{tmp_path / 'store'}")


@pytest.fixture
def vectors() -> Embeddings:
    return unit_vectors(ROWS)


@pytest.fixture
def filled(place: Place, vectors: Embeddings) -> Place:
    """Each of the stores, with notes in it."""
    place.fill("notes", vectors)
    return place


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """A guard of names and paths, but for its embedder, with so little noise that searches stay useful."""
    made_veil(epsilon=2000.0).save(tmp_path / "a.veil")
    write_key(Key.new(), tmp_path / "a.key")
    return Guard(
        str(tmp_path / "a.veil"),
        key=str(tmp_path / "a.key"),
        ledger=str(tmp_path / "ledger.sqlite"),
        collection="notes",
        embedder=WordEmbedder(),
    )


@pytest.fixture
def ready(filled: Place, guard: Guard) -> Place:
    """Each of the stores, with a complete shadow."""
    with filled.opened() as store:
        migrate(store, guard)
    return filled
