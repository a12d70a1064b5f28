from __future__ import annotations

import secrets
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.migrate import STORES, open_store

PACKAGES = {
    "chroma": ("chromadb", "chroma"),
    "qdrant": ("qdrant_client", "stores"),
    "lancedb": ("lancedb", "stores"),
    "faiss": ("faiss", "stores"),
    "postgresql": ("psycopg", "postgres"),
}


@pytest.mark.parametrize("name", PACKAGES)
def test_a_library_that_is_missing_is_named_with_its_extra(name: str, tmp_path: Path) -> None:
    package, extra = PACKAGES[name]
    code = (
        f"import sys; sys.modules['{package}'] = None; "
        f"from vecveil.migrate import open_store; open_store('{name}:.', 'notes')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"pip install 'vecveil[{extra}]'" in done.stderr


def test_a_store_that_is_not_known_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'chroma'"):
        open_store("chrome:folder", "notes")
    with pytest.raises(InvalidInputError, match="STORE:FOLDER"):
        open_store("chroma", "notes")


def test_a_choice_that_a_store_does_not_leave_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="chroma leaves no choice of id_column, got 'number'"):
        open_store("chroma:folder", "notes", id_column="number")


def test_a_store_that_takes_any_choice_is_given_it(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: dict[str, str] = {}

    def opener(target: str, collection: str, **columns: str) -> None:
        taken.update(columns, target=target, collection=collection)

    monkeypatch.setattr(type(STORES), "load", Mock(return_value=opener))
    open_store("mine:folder", "notes", id_column="number")
    assert taken == {"id_column": "number", "target": "folder", "collection": "notes"}


@pytest.mark.parametrize("name", ["chroma", "qdrant", "lancedb", "faiss"])
def test_an_address_is_refused_and_not_shown(name: str) -> None:
    secret = secrets.token_hex(8)
    with pytest.raises(InvalidInputError, match="folders only") as refused:
        open_store(f"{name}:https://user:{secret}@host/x", "notes")
    assert secret not in str(refused.value)
    assert "host" not in str(refused.value)


@pytest.mark.parametrize("name", ["chroma", "qdrant", "lancedb", "faiss"])
def test_a_folder_that_is_not_there_is_named_and_not_made(name: str, work: Path) -> None:
    with pytest.raises(InvalidInputError, match="nowhere"):
        open_store(f"{name}:nowhere", "notes")
    assert list(work.iterdir()) == []


def test_importing_it_loads_no_library() -> None:
    heavy = {package for package, _ in PACKAGES.values()}
    code = f"import sys, vecveil.migrate; print(*({heavy} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
