from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.ledgers import fresh, made_charge, names, read_spent, tamper
from support.postgres import USER, PostgresServer, run_sql
from vecveil.core.errors import ArtifactError, BudgetExceededError, InvalidInputError
from vecveil.ledger import open_ledger

WRONG = "hunter2/@:?"


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.without_ledger()


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_it_is_opened_by_url(url: str, scheme: str) -> None:
    with open_ledger(url.replace("postgresql", scheme, 1)) as ledger:
        assert re.fullmatch(r"postgresql://[^@]*:\d+/\w+", ledger.where)
        assert USER not in ledger.where


def test_a_missing_ledger_is_not_made_unless_it_may_be(url: str) -> None:
    with pytest.raises(InvalidInputError, match="there is no ledger postgresql://"):
        open_ledger(url, create=False)
    assert run_sql(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'vecveil'") == []


def test_a_schema_of_someone_else_is_left_alone(url: str) -> None:
    run_sql(url, "CREATE SCHEMA vecveil", "CREATE TABLE vecveil.meta (name text)")
    with pytest.raises(ArtifactError, match=r"what is in postgresql://.* is not a ledger"):
        open_ledger(url)
    assert run_sql(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'vecveil'") == [("meta",)]


def test_an_empty_schema_that_someone_made_for_it_is_used(url: str) -> None:
    run_sql(url, "CREATE SCHEMA vecveil")
    with open_ledger(url) as ledger:
        assert ledger.runs() == []


def test_a_wrong_password_is_a_clear_error_that_does_not_show_it(postgres: PostgresServer) -> None:
    with pytest.raises(ArtifactError, match="check host, database, user and password") as refusal:
        open_ledger(postgres.url(password=WRONG))
    assert "hunter2" not in str(refusal.value)
    assert refusal.value.__suppress_context__


def test_a_missing_database_is_a_clear_error(postgres: PostgresServer) -> None:
    with pytest.raises(ArtifactError, match="check host, database, user and password") as refusal:
        open_ledger(postgres.url("nowhere"))
    assert postgres.password not in str(refusal.value)


def test_a_lost_connection_is_told_and_the_next_try_works(url: str) -> None:
    with open_ledger(url) as ledger:
        charge, tokens = made_charge(), fresh(2)
        ledger.spend(charge, 0, names(1), tokens[:1])
        run_sql(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vecveil'")
        with pytest.raises(ArtifactError, match="connection broke; repeat"):
            ledger.spend(charge, 1, names(2), tokens[1:])
        ledger.spend(charge, 1, names(2), tokens[1:])
        assert read_spent(ledger, names(1, 2)) == [1.0, 1.0]


def test_a_user_who_may_not_write_is_told(url: str, postgres: PostgresServer) -> None:
    open_ledger(url).close()
    run_sql(
        url,
        "CREATE ROLE reader LOGIN PASSWORD 'reads'",
        "GRANT USAGE ON SCHEMA vecveil TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA vecveil TO reader",
    )
    readers = url.replace(f"{USER}:{postgres.password}", "reader:reads")
    with open_ledger(readers, create=False) as ledger:
        assert ledger.totals().releases == 0
        with pytest.raises(ArtifactError, match="permission denied for table meta"):
            ledger.set_limit(1.0)


def test_a_user_who_may_only_add_records_and_is_held_to_the_limit(url: str, postgres: PostgresServer) -> None:
    with open_ledger(url) as owner:
        owner.set_limit(1.5)
    page = (Path(__file__).parents[3] / "docs" / "ledger.md").read_text(encoding="utf-8")
    (grants,) = re.findall(r"```sql\n(.*?)```", page, flags=re.DOTALL)
    run_sql(url, "CREATE ROLE clerk LOGIN PASSWORD 'adds'", *filter(None, map(str.strip, grants.split(";"))))
    with open_ledger(url.replace(f"{USER}:{postgres.password}", "clerk:adds")) as ledger:
        charge = made_charge()
        ledger.require(charge, [(names(1), fresh(1))])
        ledger.spend(charge, 0, names(1), fresh(1))
        with pytest.raises(BudgetExceededError):
            ledger.spend(charge, 1, names(1), fresh(1))
        for change in (lambda: ledger.set_limit(9.0), lambda: ledger.set_limit(None)):
            with pytest.raises(ArtifactError, match="permission denied for table meta"):
                change()
        assert ledger.totals().highest == 1.0


def test_a_commit_waits_for_the_disk_whatever_the_server_does_for_others(url: str) -> None:
    with open_ledger(f"{url}&options=-c%20synchronous_commit%3Doff") as ledger:
        assert ledger._session.rows("SHOW synchronous_commit") == [("on",)]


def test_a_missing_table_is_a_clear_error(url: str) -> None:
    with open_ledger(url) as ledger:
        tamper(url, "DROP VIEW balances")
        with pytest.raises(ArtifactError, match=r"\"balances\" does not exist"):
            ledger.totals()
