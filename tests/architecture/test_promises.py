"""What is promised names the test that holds it, and that test is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
PAGES = ("promises", "security", "paper")


def find_named(page: str) -> list[tuple[str, str]]:
    """Return the tests that a page names, as file and function."""
    return NAMED.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_is_there(page: str) -> None:
    named = find_named(page)
    assert len(named) > 20
    known = {path: _functions(ROOT / path) for path, _ in named}
    assert [f"{path}::{name}" for path, name in named if name not in known[path]] == []


def test_every_row_of_a_promise_names_a_test() -> None:
    text = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith(("| ---", "| promise"))]
    rows = [line for line in rows if not line.startswith("| assumption")]
    assert len(rows) > 20
    assert [row for row in rows if not NAMED.search(row)] == []


def _functions(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
