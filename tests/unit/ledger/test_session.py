from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from vecveil.core.errors import ArtifactError
from vecveil.ledger.session import SQL, SqliteSession


@pytest.fixture
def session(tmp_path: Path) -> Iterator[SqliteSession]:
    found = SqliteSession(str(tmp_path / "ledger.sqlite"), create=True)
    found.open_ledger(create=True)
    yield found
    found.close()


def names(session: SqliteSession) -> list[str]:
    return [name for (name,) in session.rows("SELECT key FROM meta WHERE key LIKE 'x%' ORDER BY key")]


def test_a_transaction_keeps_all_or_nothing(session: SqliteSession) -> None:
    with session.transaction():
        session.rows(SQL["add_meta"], "x1", "one")
        session.rows(SQL["add_meta"], "x2", "two")
    with pytest.raises(ArtifactError), session.transaction():
        session.rows(SQL["add_meta"], "x3", "three") + session.rows(SQL["add_meta"], "x1", "twice")
    assert names(session) == ["x1", "x2"]
    with session.transaction():
        session.rows(SQL["add_meta"], "x4", "four")
    assert names(session) == ["x1", "x2", "x4"]


def test_what_the_database_says_becomes_an_error_that_names_the_ledger(session: SqliteSession) -> None:
    with pytest.raises(ArtifactError, match=r"^the ledger .*ledger\.sqlite ") as refused:
        session.rows("SELECT * FROM nowhere WHERE name = $1", "patient 7")
    assert "patient 7" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_a_ledger_keeps_its_name_and_its_salt(session: SqliteSession) -> None:
    name, salt = session.open_ledger(create=False)
    with closing(session.reopen()) as other:
        assert other.open_ledger(create=True) == (name, salt)
    assert (len(bytes.fromhex(name)), len(salt)) == (16, 32)


def test_staged_rows_are_seen_by_one_session_only(session: SqliteSession) -> None:
    session.clear()
    session.stage([(0, b"r" * 16, b"t" * 16, b"v" * 16, 0)])
    with closing(session.reopen()) as other:
        other.open_ledger(create=False)
        other.clear()
        assert other.rows("SELECT count(*) FROM staged") == [(0,)]
    assert session.rows("SELECT count(*) FROM staged") == [(1,)]
    session.clear()
    assert session.rows("SELECT count(*) FROM staged") == [(0,)]
