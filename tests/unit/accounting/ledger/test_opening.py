from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vecveil.accounting.ledger import default_ledger, open_ledger
from vecveil.core.errors import InvalidInputError, MissingExtraError


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


def test_postgresql_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "vecveil.accounting.ledger.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"psycopg .*vecveil\[postgres\]"):
        open_ledger("postgresql://db/books")


def test_importing_the_ledger_loads_no_database() -> None:
    program = "import sys, vecveil.accounting.ledger; print({'sqlite3', 'psycopg'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
