from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from support.corpora import TOY_EMBEDDER, write_toy_place
from vecveil.cli.main import commands


@pytest.fixture
def toy_place(work: Path) -> Path:
    """A working folder with all that an audit or a frontier of the toy corpus needs."""
    write_toy_place(work)
    return work


@pytest.fixture(scope="session")
def audited_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which an audit ran through, by the nearest neighbor alone; not to be changed."""
    place = tmp_path_factory.mktemp("audited")
    plan = "--defense veil --attack nearest --task neighbors --blanks 0 --baseline none --noise-ratio 1"
    options = f"--out out {plan} --concept concept.toml --examples 3"
    options += f" --embedder {TOY_EMBEDDER}"
    with chdir(place):
        write_toy_place(place)
        commands(["audit", "a.veil", "notes.txt", *options.split()], standalone_mode=False)
    return place


@pytest.fixture
def audited(audited_once: Path, work: Path) -> Path:
    """A copy of that folder, to change it, as the working folder."""
    shutil.copytree(audited_once, work, dirs_exist_ok=True)
    return work
