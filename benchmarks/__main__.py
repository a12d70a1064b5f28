"""`python -m benchmarks`: time vecveil on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.page import GROUPS, render_page, write_page
from benchmarks.workload import FULL, QUICK
from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.main import run
from vecveil.cli.options import FILE
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError


@click.command()
@click.argument("names", nargs=-1, metavar="[GROUP…]")
@click.option("--out", type=FILE, metavar="DIR", help="Folder for benchmarks.md and benchmarks.json.")
@click.option("--quick", is_flag=True, help="A first look in about a minute: less of everything, and less exact.")
def bench(*, names: tuple[str, ...], out: Path | None, quick: bool) -> None:
    """Time vecveil beside references of the same run.

    Groups: texts, noise, single, files, memory, learning, embedding, start, growth; all where none is named. All take
    some minutes and gigabytes of disk. Let the machine do nothing else meanwhile.
    """
    if out is not None and out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder to write to")
    asked = [one_of(name, GROUPS, "group of benchmarks") for name in dict.fromkeys(names)] or list(GROUPS)
    workload = QUICK if quick else FULL
    command = " ".join(["python -m benchmarks", *names, *(["--quick"] if quick else [])])
    results = {
        name: GROUPS[name].measure(workload) for name in progress_bar(asked, label="measuring", total=len(asked))
    }
    output().print(render_page(results, workload, command=command), soft_wrap=True)
    for path in [] if out is None else write_page(results, workload, out, command=command):
        notices().print(f"written: {path}")


if __name__ == "__main__":
    run(bench)
