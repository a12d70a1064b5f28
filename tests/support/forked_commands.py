"""Commands in forked copies of one process that has loaded what they need.

A start takes no time, a crash is that of the copy alone, and a copy can be killed at any moment of its work. Run as a
program, this file is that process: a line of JSON on its input is a command, a line on its output is how it ended.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

COMMAND_LINE = ("vecveil.cli.main", "vecveil.veil", "vecveil.veil.protect_file", "vecveil.ledger.session")
MEMORY = 3 * 2**30
"""Bytes that a command may take beyond those of the process: what has no end fails, and the machine does not."""

FAILED = 70
"""Exit code of a command that ends in an error that nobody caught."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command.

    Attributes:
        arguments: What follows `vecveil`.
        folder: Where it runs.
        environment: Variables over those of the process.
        loaded: Modules that the copy loads before its time begins to count.
        kill_after: Seconds of work after which it is killed; None to let it end.
        limit: Seconds after which it is killed in any case.
        work_limit: Seconds of a processor's time after which it is killed, however busy the machine is.
    """

    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str] = field(default_factory=dict)
    loaded: Sequence[str] = ()
    kill_after: float | None = None
    limit: float = 500.0
    work_limit: int = 100


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a command ended.

    Attributes:
        code: Its exit code; 128 and the signal where one ended it.
        killed: Whether it was killed on purpose.
        seconds: How long it worked.
        out: What it printed.
        err: What it printed as errors.
    """

    code: int
    killed: bool
    seconds: float
    out: str
    err: str


@dataclass(frozen=True, kw_only=True)
class CommandServer:
    """The process, as the tests see it."""

    process: subprocess.Popen[str]

    def run(self, command: Command) -> Ending:
        """Run a command to its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(command)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the process that runs commands has ended"
        return Ending(**json.loads(answer))


@contextmanager
def running_commands(*modules: str) -> Iterator[CommandServer]:
    """Yield a process that has loaded these modules, and ends with the block."""
    paths = os.pathsep.join(path for path in sys.path if path)
    # A process that has threads can't be copied, and nothing here is large.
    quiet = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    with subprocess.Popen(
        [sys.executable, __file__, *COMMAND_LINE, *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "", "PYTHONPATH": paths, **quiet},
    ) as process:
        try:
            yield CommandServer(process=process)
        finally:
            process.kill()


def serve_commands() -> None:
    """Run commands until there are no more."""
    for name in sys.argv[1:]:
        importlib.import_module(name)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(asdict(_run(Command(**json.loads(line))))) + "\n")
        sys.stdout.flush()


def _run(command: Command) -> Ending:
    with TemporaryDirectory() as place:
        said = [Path(place) / name for name in ("out", "err")]
        ready, tell = os.pipe()
        child = os.fork()
        if not child:
            os.close(ready)
            _become(command, said, tell)
        os.close(tell)
        os.read(ready, 1)
        os.close(ready)
        started, ended = time.monotonic(), os.pidfd_open(child)
        wait = command.limit if command.kill_after is None else min(command.limit, command.kill_after)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        late = not poll.poll(1000 * wait)
        if late:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(ended)
        code = os.waitstatus_to_exitcode(status)
        killed = late and code == -signal.SIGKILL and command.kill_after is not None
        out, err = (path.read_text(encoding="utf-8", errors="replace") for path in said)
        seconds = time.monotonic() - started
        return Ending(code=code if code >= 0 else 128 - code, killed=killed, seconds=seconds, out=out, err=err)


def _become(command: Command, said: Sequence[Path], tell: int) -> Any:
    """Run the command in place of this process."""
    code = FAILED
    try:
        for descriptor, path in enumerate(said, start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), descriptor)
        sys.stdin.close()
        os.chdir(command.folder)
        os.environ.update(command.environment)
        for name in command.loaded:
            importlib.import_module(name)
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_CPU, (command.work_limit, command.work_limit))
        resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, taken + MEMORY))
        os.write(tell, b"r")
        sys.argv = ["vecveil", *command.arguments]
        importlib.import_module("vecveil.cli.main").main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve_commands()
