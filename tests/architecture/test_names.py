"""Plain words: module docstrings say what is in a file, and functions are verbs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(
    path for folder in ("src/vecveil", "benchmarks", "reproduction") for path in (ROOT / folder).rglob("*.py")
)
RIDDLES = re.compile(r"(What|Whether|Where|From|How|That)\b")
BRITISH = re.compile(
    r"\b(?:behaviour|colour|neighbour|centre|defence|licence|favour|judgement)s?\b"
    r"|\b(?:normal|token|recogn|general|optim|standard|random|minim|maxim|organ|summar)is(?:e|ed|es|ing|ation|er)\b",
    re.IGNORECASE,
)
MOST_WORDS = 12
VERBS = {"annotated", "embed", "seed", "need", "feed", "exceed", "speed", "proceed", "succeed", "shed"}
IRREGULAR = {
    *("made", "found", "taken", "given", "told", "kept", "held", "drawn", "written", "left", "grown", "chosen"),
    *("known", "seen", "shown", "sent", "spoken", "thrown", "built", "bought", "brought", "caught", "begun", "broken"),
}


def docstring(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n\n")[0]


def functions(path: Path) -> Iterator[str]:
    """Yield the names of functions and methods; properties are nouns."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(one) for one in node.decorator_list}
            if not any("property" in one for one in decorators):
                yield node.name


def is_participle(name: str) -> bool:
    word = name.strip("_")
    return word in IRREGULAR or (re.fullmatch(r"[a-z]+ed", word) is not None and word not in VERBS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_module_says_what_is_in_it(path: Path) -> None:
    first = docstring(path).replace("\n", " ")
    assert first
    assert not RIDDLES.match(first), first
    assert len(first.split()) <= MOST_WORDS, first


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_function_is_a_verb(path: Path) -> None:
    assert [name for name in functions(path) if is_participle(name)] == []


@pytest.mark.parametrize("name", ["made", "_opened", "found", "embedded", "measured"])
def test_bare_participles_are_seen(name: str) -> None:
    assert is_participle(name)


def test_a_class_name_has_one_meaning() -> None:
    classes: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: paths for name, paths in classes.items() if len(paths) > 1} == {}


def test_spelling_is_american() -> None:
    pages = [*FILES, *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.html")]
    # diffprivlib has a method of that name.
    found = {(path.name, word) for path in pages for word in BRITISH.findall(path.read_text(encoding="utf-8"))}
    assert found - {("references.py", "randomise")} == set()
