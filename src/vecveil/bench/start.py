"""How long it takes to begin."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from vecveil.bench.effort import Effort
from vecveil.bench.line import Line
from vecveil.bench.timing import Work, best_seconds

_STARTS = {
    "python -c pass": (None, "pass", ()),
    "import vecveil": (0.3, "import vecveil", ()),
    "from vecveil import Veil": (None, "from vecveil import Veil", ()),
    "loading the compiled loops": (None, "import vecveil.core.loops", ()),
    "vecveil --help": (0.5, "from vecveil.cli.main import main; main()", ("--help",)),
}


def start_lines(effort: Effort) -> Iterator[Line]:
    """Yield how long a new process takes until it is ready."""

    def starting(code: str, arguments: tuple[str, ...]) -> Work:
        return lambda: subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=True)

    works = {name: starting(code, arguments) for name, (_, code, arguments) in _STARTS.items()}
    took = best_seconds(works, rounds=effort.rounds)
    for name, value in took.items():
        yield Line(what=name, value=value, unit="s", wanted=_STARTS[name][0])
