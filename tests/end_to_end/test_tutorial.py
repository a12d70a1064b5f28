"""The tutorial and the first page are run as their readers would, block by block."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


def read_blocks(page: str) -> list[tuple[str, str]]:
    """Return the kind and the content of each block that can be run."""
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


def run_command(line: str) -> None:
    """Run a line of a console block, unless it installs something."""
    command = shlex.split(line.removeprefix("$ "))
    if command[0] == "pip":
        return
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", ["index.md", "tutorial.md"])
def test_every_block_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VECVEIL_LEDGER", str(tmp_path / "default.sqlite"))
    names: dict[str, object] = {}
    for kind, content in read_blocks(page):
        if kind == "python":
            exec(compile(content, page, "exec"), names)  # noqa: S102
            continue
        for line in content.splitlines():
            run_command(line)
