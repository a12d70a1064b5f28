"""Nothing heavy is loaded before it is used, and every public name is there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import vecveil

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "vecveil").rglob("*.py"))
HEAVY = ("torch", "transformers", "sentence_transformers", "spacy", "presidio_analyzer", "pyarrow", "sklearn", "scipy")
HEAVY += ("dp_accounting", "jinja2", "msgspec", "mteb", "playwright", "psycopg", "sqlite3")


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import vecveil",
        "import vecveil.cli.main",
        "import vecveil.mechanisms.mahalanobis, vecveil.mechanisms.purkayastha, vecveil.files, vecveil.accounting",
        "import vecveil, numpy; vecveil.terms('x').find('x')",
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(statement: str) -> None:
    assert loaded_by(statement).isdisjoint(HEAVY)


@pytest.mark.parametrize("statement", ["import vecveil", "import vecveil.cli.main"])
def test_a_start_loads_no_numpy(statement: str) -> None:
    assert "numpy" not in loaded_by(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "import vecveil; vecveil.Veil",
        "import vecveil; from vecveil import *; assert learn is vecveil.learn is not None",
        "import vecveil; assert dir(vecveil) == sorted(vecveil.__all__)",
        # The function and the folder have one name; the function stays what a user gets.
        "import vecveil; import vecveil.audit; assert vecveil.audit is vecveil.audit and callable(vecveil.audit)",
    ],
)
def test_names_of_the_package_are_found_when_asked_for(statement: str) -> None:
    assert "vecveil" in loaded_by(statement)


def test_a_name_that_the_package_has_not_is_refused() -> None:
    with pytest.raises(AttributeError, match="attribute anythin"):
        vecveil.anythin  # type: ignore[attr-defined]  # noqa: B018


def test_perturbing_vectors_loads_nothing_heavy() -> None:
    statement = (
        "import numpy as np; from vecveil.mechanisms import MECHANISMS; from vecveil.core.randomness import FreshRows; "
        "mechanism = MECHANISMS.load('mahalanobis')(epsilon=1.0, variances=np.ones(3)); "
        "mechanism.perturb(np.ones((2, 3)), FreshRows(2))"
    )
    assert loaded_by(statement).isdisjoint(HEAVY)


@pytest.mark.parametrize("name", vecveil.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    thing = getattr(vecveil, name)
    assert name == "__version__" or thing.__doc__


def test_no_pickle_no_eval_and_no_catch_all_module() -> None:
    banned = re.compile(r"\b(import pickle|pickle\.|(?<!\.)eval\(|exec\(|torch\.load\()")
    assert [path.name for path in SOURCES if banned.search(path.read_text(encoding="utf-8"))] == []
    assert {path.stem for path in SOURCES} & {"utils", "helpers", "common", "misc"} == set()


def test_the_base_install_imports_where_there_is_no_unix() -> None:
    """Windows has no fork and none of these modules."""
    missing = ("fcntl", "grp", "pwd", "resource", "termios")
    blocked = f"sys.modules.update(dict.fromkeys({missing!r}))"
    without = "[delattr(os, name) for name in ('fork', 'register_at_fork') if hasattr(os, name)]"
    folders = (
        "core",
        "accounting",
        "mechanisms",
        "files",
        "ledger",
        "veil",
        "shapes",
        "concepts",
        "samples",
        "cli.main",
    )
    imports = "; ".join(f"import vecveil.{name}" for name in folders)
    assert "vecveil" in loaded_by(f"import os; {blocked}; {without}; {imports}")
