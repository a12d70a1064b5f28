from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.ledger import default_ledger, open_ledger


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("VECVEIL_LEDGER", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return tmp_path


def test_the_ledger_lies_in_the_users_data_folder(home: Path) -> None:
    assert default_ledger() == str(home / ".local" / "share" / "vecveil" / "ledger.sqlite")


@pytest.mark.parametrize(("folder", "heeded"), [("/data", True), ("", False), ("relative", False)])
def test_the_data_folder_can_be_moved(home: Path, monkeypatch: pytest.MonkeyPatch, folder: str, heeded: bool) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", folder)
    expected = Path(folder) if heeded else home / ".local" / "share"
    assert default_ledger() == str(expected / "vecveil" / "ledger.sqlite")


@pytest.mark.parametrize("named", ["~/books.sqlite", "postgresql://db/books"])
def test_a_variable_names_another(home: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("VECVEIL_LEDGER", named)
    assert default_ledger() == named


def test_a_tilde_is_the_users_folder(home: Path) -> None:
    with open_ledger("~/mine.sqlite") as ledger:
        assert ledger.where == str(home / "mine.sqlite")
    assert (home / "mine.sqlite").is_file()


@pytest.mark.parametrize("url", ["mysql://ann:secret@db/books", "sqlite:///books", "https://db"])
def test_urls_of_other_databases_are_refused_and_not_taken_for_paths(home: Path, url: str) -> None:
    with pytest.raises(InvalidInputError, match="a path or a postgresql:// URL") as refusal:
        open_ledger(url)
    assert "secret" not in str(refusal.value)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "where",
    [
        "postgresql:me:secret@host/db",
        "postgresql:/me:secret@host/db",
        "Postgres:me:secret@host",
        "host=h password=secret",
        " mysql://me:secret@host/db",
    ],
)
def test_an_address_with_a_slip_in_it_is_not_taken_for_a_file(work: Path, where: str) -> None:
    with pytest.raises(InvalidInputError, match="postgresql://") as refused:
        open_ledger(where)
    assert "secret" not in str(refused.value)
    assert [*work.iterdir()] == []


def test_a_path_that_only_resembles_an_address_is_a_path(work: Path) -> None:
    for name in ("postgres.sqlite", "spread/host=a.sqlite", "hosts"):
        with open_ledger(name) as ledger:
            assert ledger.where == name


def test_postgresql_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "vecveil.ledger.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"psycopg .*vecveil\[postgres\]"):
        open_ledger("postgresql://db/books")


def test_importing_the_ledger_loads_no_driver() -> None:
    program = "import sys, vecveil.ledger; print('psycopg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
