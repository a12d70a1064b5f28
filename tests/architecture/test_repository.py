"""What contributors find beside the code says the same as the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
SETTINGS = sorted([*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"])


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SETTINGS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_file_of_settings_can_be_read(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_every_python_that_is_promised_is_tested() -> None:
    promised = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    assert read(".github/workflows/test.yml")["jobs"]["unit"]["strategy"]["matrix"]["python"] == promised
    assert promised == [f"3.{minor}" for minor in range(11, 15)]
    # Hashes are kept for the same ones.
    assert "range(11, 15)" in (ROOT / "requirements" / "lock.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_runs_targets_that_exist_and_may_do_no_more_than_it_must(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    targets = {name for step in steps for name in re.findall(r"^make (\w+)", step.get("run", ""))}
    assert targets <= set(re.findall(r"^(\w+):", MAKEFILE, flags=re.MULTILINE))
    assert [step for step in steps if "secrets." in str(step)] == []


def test_a_release_is_published_without_a_password_and_with_attestations() -> None:
    jobs = read(".github/workflows/release.yml")["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    used = [step.get("uses", "").partition("@")[0] for job in jobs.values() for step in job["steps"]]
    assert {"actions/attest-build-provenance", "actions/attest-sbom", "pypa/gh-action-pypi-publish"} <= set(used)


def test_hooks_run_what_the_checks_run_in_the_same_version() -> None:
    ruff, local = read(".pre-commit-config.yaml")["repos"]
    assert f"\nruff=={ruff['rev'].removeprefix('v')} " in (ROOT / "requirements" / "dev.txt").read_text(
        encoding="utf-8"
    )
    commands = [hook["entry"].removeprefix(".venv/bin/") for hook in local["hooks"]]
    assert {"mypy", "lint-imports --no-cache"} <= {*commands}
    assert all(f"$(BIN)/{command}\n" in MAKEFILE for command in ("mypy", "lint-imports --no-cache"))


def test_the_citation_is_of_this_version() -> None:
    citation = read("CITATION.cff")
    assert citation["version"] == PROJECT["project"]["version"]
    assert citation["license"] == PROJECT["project"]["license"]


def test_contributors_see_the_layers_of_the_contract() -> None:
    (contract,) = [one for one in PROJECT["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    (drawn,) = re.findall(r"```text\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert drawn.splitlines() == contract["layers"]


def test_the_page_on_installing_has_every_extra_and_no_other() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    listed = {name for row in rows for name in re.findall(r"`([\w-]+)`", row.rpartition(" | ")[2])}
    assert listed == {*PROJECT["project"]["optional-dependencies"]} - {"dev"}


def test_no_page_names_an_extra_that_is_not_there() -> None:
    known = {*PROJECT["project"]["optional-dependencies"]}
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    found = {
        (path.name, name.strip())
        for path in files
        for names in re.findall(r"vecveil\[([\w, -]+)\]", path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert {(file, name) for file, name in found if name not in known} == set()
    extras = {
        (path.name, name)
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(
            r'(?:needs_extra|MissingExtraError)\([^,()]+, "([\w-]+)"', path.read_text(encoding="utf-8")
        )
    }
    assert len(extras) > 20
    assert {(file, name) for file, name in extras if name not in known} == set()
