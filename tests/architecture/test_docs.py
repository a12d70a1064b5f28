"""Documentation is executed, or made from the program, so that it can't rot."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import runpy
from pathlib import Path

import pytest

import vecveil
from vecveil.cli.main import SUMMARIES
from vecveil.cli.reference import write_reference

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
WITH_EXAMPLES = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def test_the_page_of_commands_is_what_the_program_says() -> None:
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == write_reference()


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_examples_in_docstrings_run(path: Path) -> None:
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    # A module may have the name of a function that its folder exports, so that importing it gives the function.
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0


# The paper's mask can't move on so few texts, and says so.
@pytest.mark.filterwarnings("ignore:no gate of the mask can close")
def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 2
    monkeypatch.chdir(tmp_path)
    (tmp_path / "readme.py").write_text("".join(blocks), encoding="utf-8")
    runpy.run_path("readme.py")
    assert (tmp_path / "patients.veil" / "manifest.json").is_file()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_readmes_commands_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\$ vecveil (\w+)", text, flags=re.MULTILINE))
    assert named
    assert named <= set(SUMMARIES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    broken = [link for link in links if not Path(os.path.normpath(page.parent / link)).exists()]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_to_headings_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]*\.md|)#([^)]+)\)", page.read_text(encoding="utf-8"))
    broken = [
        f"{path}#{anchor}" for path, anchor in links if anchor not in anchors(page.parent / path if path else page)
    ]
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Return what links to the headings of a page end in, as GitHub and the site make it."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_reference_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\.\. auto\w+:: vecveil\.(\w+)$", page, flags=re.MULTILINE)
    assert {*documented} == {*vecveil.__all__} - {"__version__"}


def test_every_page_is_in_the_contents_of_the_site() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([\w-]+)$", index, flags=re.MULTILINE))
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages - listed == set()
