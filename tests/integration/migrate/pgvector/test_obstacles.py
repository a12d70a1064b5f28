from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from support.pgvector import migrated, with_role
from support.postgres import run_sql
from support.stores import PgvectorPlace
from support.veils import unit_vectors
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import migrate, swap
from vecveil.veil import Guard

HANGING = {
    "constraint pages_note_fkey on table pages": "CREATE TABLE pages (note bigint REFERENCES notes)",
    "constraint notes_next_fkey on table notes": "ALTER TABLE notes ADD next bigint REFERENCES notes",
    "view titles": "CREATE VIEW titles AS SELECT content FROM notes",
    "materialized view kept": "CREATE MATERIALIZED VIEW kept AS SELECT content FROM notes",
    "rule silent on table notes": "CREATE RULE silent AS ON DELETE TO notes DO INSTEAD NOTHING",
    "row-level security": "ALTER TABLE notes ENABLE ROW LEVEL SECURITY",
    "policy own on table notes": "CREATE POLICY own ON notes USING (true)",
    "trigger t on table notes": (
        "CREATE TRIGGER t BEFORE UPDATE ON notes FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
    ),
    r"function newest\(\)": (
        "CREATE FUNCTION newest() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT max(number) FROM notes; END"
    ),
    r"function all_notes\(\)": "CREATE FUNCTION all_notes() RETURNS SETOF notes LANGUAGE sql AS 'SELECT * FROM notes'",
    "column had of table boxes": "CREATE TABLE boxes (had notes[])",
    "table heirs": "CREATE TABLE heirs () INHERITS (notes)",
    "parent elders": "ALTER TABLE notes INHERIT elders",
    "publication one": "CREATE PUBLICATION one FOR TABLE notes",
    "publication every": "CREATE PUBLICATION every FOR ALL TABLES",
    "publication these": "CREATE PUBLICATION these FOR TABLES IN SCHEMA public",
    "security label of anon": (
        "INSERT INTO pg_seclabel VALUES ('notes'::regclass, 'pg_class'::regclass, 1, 'anon', 'MASKED')"
    ),
    "subscription sub": "INSERT INTO pg_subscription_rel SELECT oid, 'notes'::regclass, 'r' FROM pg_subscription",
}


@pytest.fixture
def place(pgvector_place: PgvectorPlace) -> Iterator[PgvectorPlace]:
    pgvector_place.fill("notes", unit_vectors(4))
    run_sql(
        pgvector_place.where,
        "CREATE TABLE elders (number bigint)",
        "CREATE SUBSCRIPTION sub CONNECTION 'host=nowhere' PUBLICATION p WITH (connect = false, slot_name = NONE)",
    )
    yield pgvector_place
    run_sql(
        pgvector_place.where,
        "DROP TABLE IF EXISTS elders, notes, parts CASCADE",
        "DROP PUBLICATION IF EXISTS one, every, these",
        "DROP SUBSCRIPTION sub",
    )


@pytest.mark.parametrize(("what", "statement"), HANGING.items(), ids=map(str, range(len(HANGING))))
def test_what_would_stay_with_the_old_table_is_named_before_anything_is_made(
    place: PgvectorPlace, guard: Guard, what: str, statement: str
) -> None:
    run_sql(place.where, statement)
    with pytest.raises(InvalidInputError, match=f"notes can't be swapped, .* old table: .*{what}"):
        migrated(place, guard)
    assert place.rows("notes-vecveil") is None


def test_what_came_since_is_named_by_the_swap(place: PgvectorPlace, guard: Guard) -> None:
    with place.opened() as store:
        migrate(store, guard)
        run_sql(place.where, HANGING["view titles"])
        before = place.rows("notes")
        with pytest.raises(InvalidInputError, match="view titles"):
            swap(store, guard)
        with pytest.raises(InvalidInputError, match="view titles"):
            store.swap()
    assert place.rows("notes") == before


def test_only_an_ordinary_table_is_swapped(place: PgvectorPlace, guard: Guard) -> None:
    run_sql(
        place.where,
        "CREATE TABLE parts (number int PRIMARY KEY, embedding vector(8)) PARTITION BY RANGE (number)",
        "CREATE TABLE parts_1 PARTITION OF parts DEFAULT",
        "INSERT INTO parts SELECT number, embedding FROM notes",
    )
    with pytest.raises(InvalidInputError, match="parts is no ordinary table"):
        migrated(place, guard, "parts")
    with pytest.raises(InvalidInputError, match=r"parts_1 can't be swapped.*parent parts"):
        migrated(place, guard, "parts_1")


def test_only_who_has_the_owners_rights_swaps(
    place: PgvectorPlace, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with with_role(place, "visitor"), with_role(place, "appuser"), with_role(place, "member"):
        run_sql(place.where, "GRANT SELECT ON notes TO visitor")
        told = "notes belongs to tester; only who has all rights of tester"
        with acting(monkeypatch, "visitor"), pytest.raises(InvalidInputError, match=told):
            migrated(place, guard)
        run_sql(place.where, "ALTER TABLE notes OWNER TO appuser")
        told = "appuser may not create tables in the schema public"
        with acting(monkeypatch, "appuser"), pytest.raises(InvalidInputError, match=told):
            migrated(place, guard)
        run_sql(place.where, "GRANT appuser TO member", "GRANT CREATE ON SCHEMA public TO member")
        with acting(monkeypatch, "member"), pytest.raises(InvalidInputError, match=told):
            migrated(place, guard)
        run_sql(place.where, "GRANT CREATE ON SCHEMA public TO appuser")
        with acting(monkeypatch, "member"):
            assert migrated(place, guard).rows == 4
            assert run_sql(place.where, "SELECT count(*) FROM notes") == [(4,)]


@contextmanager
def acting(monkeypatch: pytest.MonkeyPatch, role: str) -> Iterator[None]:
    """Let all connections be of a role."""
    with monkeypatch.context() as patch:
        patch.setenv("PGOPTIONS", f"-c role={role}")
        yield
