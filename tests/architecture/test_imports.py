"""Nothing heavy is loaded before it is used, and every public name is there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
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
        # What functions take and return is in its folder.
        "import vecveil; from vecveil.accounting import Guarantee, GuaranteeSheet; "
        "from vecveil.concepts import Concept, Passage; from vecveil.embedders import Embedder; "
        "from vecveil.veil import read_passages; "
        "elsewhere = (Guarantee, GuaranteeSheet, Embedder, Concept, Passage, read_passages); "
        "assert {one.__name__ for one in elsewhere}.isdisjoint(vecveil.__all__)",
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


UNIX = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios")
OS = (
    *("fork", "forkpty", "register_at_fork", "getuid", "geteuid", "getgid", "getegid", "fchown", "chown", "lchown"),
    *("fchmod", "mkfifo", "mknod", "killpg", "setsid", "getpgid", "sched_getaffinity", "sched_setaffinity", "pread"),
    *("pwrite", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_SYNC", "WNOHANG", "sysconf", "uname"),
    *("statvfs", "getloadavg", "sendfile", "posix_fallocate"),
)
SIGNALS = ("SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGALRM", "SIGPIPE", "alarm", "setitimer")
"""Modules, and names of `os` and `signal`, that Windows has not."""

BEHIND_OTHERS = (
    "vecveil.attacks.generation.",
    "vecveil.attacks.standardize",
    "vecveil.ledger.postgres",
    "vecveil.service.",
)
"""Modules that others import where they are used, and that name no extra of their own."""

ON_ITS_OWN = """
import importlib, importlib.abc, os, signal, sys
import ahocorasick_rs, click, cryptography.hazmat.primitives.ciphers.aead, filelock, lazy_loader, numpy, platformdirs
import pyarrow, pyarrow.compute, pyarrow.csv, pyarrow.json, pyarrow.parquet, regex, rich.console, rich.progress
import rich.table, safetensors.numpy, sqlite3, subprocess, tempfile, threadpoolctl, multiprocessing.pool

# What the libraries of the base install and Python's own have loaded so far stays; of the rest, ours alone may come.
OPTIONAL, WINDOWS, MODULES = {optional!r}, {windows!r}, {modules!r}


class Refuse(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, Refuse())
if WINDOWS:
    sys.modules.update(dict.fromkeys({modules_of_unix!r}))
    for module, names in ((os, {names_of_os!r}), (signal, {names_of_signal!r})):
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
for name in MODULES:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(name, type(error).__name__, str(error).replace(chr(10), " "), sep="|")
"""


def _list_failures(*, windows: bool, optional: set[str]) -> dict[str, str]:
    """Import every module in one process and return what failed, with the error."""
    modules = [".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in SOURCES]
    modules = sorted(name.removesuffix(".__init__") for name in modules)
    code = ON_ITS_OWN.format(
        optional=optional,
        windows=windows,
        modules=modules,
        modules_of_unix=UNIX,
        names_of_os=OS,
        names_of_signal=SIGNALS,
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|", maxsplit=1) for line in done.stdout.splitlines()]
    return dict(lines)  # type: ignore[arg-type]


def _list_optional() -> set[str]:
    """Return the modules of installed packages that the base install does not bring."""
    base, queue = set(), ["vecveil"]
    while queue:
        name = re.sub(r"[-_.]+", "-", queue.pop()).lower()
        if name not in base:
            base.add(name)
            with suppress(PackageNotFoundError):
                needed = [one for one in distribution(name).requires or [] if "extra ==" not in one]
                queue += [re.match(r"[\w.-]+", one)[0] for one in needed]  # type: ignore[index]
    owners = packages_distributions().items()
    return {module for module, names in owners if not {re.sub(r"[-_.]+", "-", one).lower() for one in names} & base}


@pytest.mark.parametrize("windows", [False, True], ids=["here", "without Unix"])
def test_every_module_imports_with_the_base_install_or_names_its_extra(windows: bool) -> None:
    optional = _list_optional()
    assert {"torch", "transformers", "spacy", "fastapi", "sklearn", "chromadb", "ray"} <= optional
    failed = _list_failures(windows=windows, optional=optional)
    behind = {name: error for name, error in failed.items() if name.startswith(BEHIND_OTHERS)}
    assert [f"{name}: {error}" for name, error in behind.items() if not error.startswith("ModuleNotFoundError|")] == []
    others = {name: error for name, error in failed.items() if name not in behind}
    assert [f"{name}: {error}" for name, error in others.items() if not error.startswith("MissingExtraError|")] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT / "src").as_posix())
def test_no_file_asks_for_unix_when_it_is_imported(path: Path) -> None:
    """Those too that need a library which can't be taken through Windows here."""
    asked = set()
    for node in _walk_at_import(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            asked |= {alias.name for alias in node.names} & {*UNIX}
        elif isinstance(node, ast.ImportFrom):
            asked |= {str(node.module)} & {*UNIX}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in {"os", "signal"}:
            asked |= {node.attr} & {*OS, *SIGNALS}
    assert asked == set()


def _walk_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs when a file is imported: everything but the bodies of functions."""
    yield node
    for field, value in ast.iter_fields(node):
        if field == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk_at_import(child)
