from __future__ import annotations

from typing import Any

import psycopg
import pytest

from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors
from vecveil.core.errors import ArtifactError
from vecveil.migrate import migrate, swap
from vecveil.migrate.pgvector.database import QUERIES, Database
from vecveil.veil import Guard

OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> {}"


@pytest.fixture
def ready(pgvector_place: PgvectorPlace, guard: Guard) -> PgvectorPlace:
    pgvector_place.fill("notes", unit_vectors(4))
    with pgvector_place.opened() as store:
        migrate(store, guard)
    return pgvector_place


def test_a_connection_that_is_lost_before_the_end_is_said_in_words(
    ready: PgvectorPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, calls = ready.rows("notes"), []
    rename = Database.rename

    def lost(self: Database, *names: Any) -> None:
        rename(self, *names)
        calls.append(names)
        if len(calls) == 2:
            run_sql(ready.where, OTHERS.format("pg_backend_pid()"))

    with ready.opened() as store, monkeypatch.context() as patch:
        patch.setattr(Database, "rename", lost)
        with pytest.raises(ArtifactError, match="the connection to the database was lost"):
            swap(store, guard)
    assert ready.rows("notes") == before
    with ready.opened() as store:
        assert swap(store, guard).rows == 4


@pytest.mark.parametrize("held", ["SELECT count(*) FROM notes", "UPDATE notes SET more = NULL WHERE number = 1"])
def test_a_table_that_others_hold_on_to_is_not_waited_for_long(
    ready: PgvectorPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    monkeypatch.setattr("vecveil.migrate.pgvector.database.LOCK_SECONDS", 0.2)
    with ready.opened() as store:
        with psycopg.connect(ready.where) as other:
            other.execute(held)
            with pytest.raises(ArtifactError, match=r"others are using the table.*try again"):
                swap(store, guard)
            other.rollback()
        assert swap(store, guard).rows == 4


def test_readers_read_while_ids_are_compared(
    ready: PgvectorPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Database.rename
    counts = []

    def watched(self: Database, *names: Any) -> None:
        if not counts:
            counts.extend(run_sql(ready.where, "SET lock_timeout = '2s'", "SELECT count(*) FROM notes"))
        rename(self, *names)

    monkeypatch.setattr(Database, "rename", watched)
    with ready.opened() as store:
        swap(store, guard)
    assert counts == [(4,)]


def test_a_failure_names_what_it_is_about(pgvector_place: PgvectorPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(QUERIES, "insert", "INSERT INTO notes VALUES ({number})")
    database = Database(pgvector_place.where)
    run_sql(pgvector_place.where, "CREATE TABLE notes (number int PRIMARY KEY)")
    with pytest.raises(ArtifactError, match=r"\(NotNullViolation, notes, number\)"):
        database.run("insert", number=None)
    with pytest.raises(ArtifactError, match=r"PostgreSQL failed \(InvalidTextRepresentation\)") as failed:
        database.run("insert", number="secret")
    database.close()
    assert "secret" not in str(failed.value)
