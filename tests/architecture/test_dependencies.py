"""Every direct import is declared, and the picture of the layers is the linter's own contract."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted((ROOT / "src" / "vecveil").rglob("*.py"))


def normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(requirements: list[str]) -> set[str]:
    """Return the distributions that requirements name, without versions; extras of our own are followed."""
    found = set()
    for requirement in requirements:
        name, _, extras = re.match(r"([\w.-]+)(\[([\w, -]+)\])?", requirement).groups()  # type: ignore[union-attr]
        if name == "vecveil":
            for extra in extras.split(","):
                found |= declared(PROJECT["project"]["optional-dependencies"][extra.strip()])
        else:
            found.add(normalize(name))
    return found


BASE = declared(PROJECT["project"]["dependencies"])
EVERYTHING = BASE | declared(["vecveil[all]"])


def imported(path: Path, *, at_import: bool) -> set[str]:
    """Return the third-party packages that a file imports: when it is imported itself, or anywhere in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    if at_import:
        nodes = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"vecveil"}


def distributions(module: str) -> set[str]:
    return {normalize(name) for name in packages_distributions().get(module, [module])}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT / "src").as_posix())
def test_what_a_file_imports_is_declared(path: Path) -> None:
    undeclared = {name for name in imported(path, at_import=False) if not distributions(name) & EVERYTHING}
    assert undeclared == set()


def test_what_the_core_imports_comes_with_the_base_install() -> None:
    folders = ("core", "accounting", "mechanisms", "files", "ledger", "veil", "shapes", "concepts", "samples", "cli")
    needed = {
        name
        for path in SOURCES
        if path.relative_to(ROOT / "src" / "vecveil").parts[0] in folders and path.stem not in {"postgres"}
        for name in imported(path, at_import=True)
    }
    assert {name for name in needed if not distributions(name) & BASE} == set()


def test_the_picture_of_the_layers_is_the_contract() -> None:
    (contract,) = [one for one in PROJECT["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (drawn,) = re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL)
    assert drawn.splitlines() == contract["layers"]
    folders = {path.name for path in (ROOT / "src" / "vecveil").iterdir() if (path / "__init__.py").is_file()}
    assert {name.strip(" ()") for line in contract["layers"] for name in line.split("|")} == folders


def test_the_way_of_a_text_to_disk_is_as_told() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"^\| \d+ \| `([\w/.]+)` \|", page, flags=re.MULTILINE)
    assert 0 < len(files) <= 15
    assert [name for name in files if not (ROOT / "src" / "vecveil" / name).is_file()] == []
