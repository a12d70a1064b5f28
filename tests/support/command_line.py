"""Running `vecveil` as a user does: in this process where that is enough, in one of its own where it isn't."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from vecveil.cli.main import main


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """Calls `main` with arguments; an exception that it lets through fails the test, as a traceback would a user."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    program: Callable[[], None] = main

    def __call__(self, *arguments: object) -> Outcome:
        self.monkeypatch.setattr(sys, "argv", ["vecveil", *map(str, arguments)])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            self.program()
        said = self.capsys.readouterr()
        return Outcome(code=int(ended.value.code or 0), out=said.out, err=said.err)


def start(*arguments: object, before: str = "", environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start `vecveil` in a process of its own.

    Args:
        *arguments: What follows the command's name.
        before: Python to run first, to take a module or a resource away.
        environment: Variables over those of this process.
    """
    return start_python(
        "-c", f"{before}\nfrom vecveil.cli.main import main\nmain()", *arguments, environment=environment
    )


def start_python(*arguments: object, environment: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start Python in a process of its own; packages beside the source, such as `benchmarks`, are found."""
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "", "PYTHONPATH": paths, **(environment or {})},
    )


def finished(process: subprocess.Popen[str]) -> Outcome:
    """Wait for a process and return how it ended."""
    out, err = process.communicate(timeout=300)
    return Outcome(code=process.returncode, out=out, err=err)


def check_refusal(outcome: Outcome, *named: str, hidden: Sequence[str] = ()) -> None:
    """Fail unless the command ended in one line that holds every one of `named` and none of `hidden`."""
    assert outcome.code in {1, 2}, outcome
    assert "Traceback" not in outcome.err
    lines = outcome.err.strip().splitlines()
    # For a slip in the options themselves, two lines before the error tell how to get help.
    start_of_error = next(number for number, line in enumerate(lines) if line.startswith("Error: "))
    assert all(line.startswith(("Usage: ", "Try ")) or not line for line in lines[:start_of_error]), outcome.err
    assert len(lines) == start_of_error + 1, outcome.err
    for part in named:
        assert part in lines[-1]
    for word in hidden:
        assert word not in outcome.err + outcome.out


def listing(folder: Path) -> dict[str, bytes]:
    """Return every file below `folder`, hidden ones too, with its content; folders end in a slash."""
    return {
        str(path.relative_to(folder)) + ("/" if path.is_dir() else ""): b"" if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }
