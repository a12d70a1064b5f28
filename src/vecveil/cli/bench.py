"""`vecveil bench`: how fast things are on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from vecveil.cli.console import notices, output, progress_bar
from vecveil.cli.options import FILE
from vecveil.core.errors import InvalidInputError


@click.command()
@click.argument("names", nargs=-1, metavar="[GROUP…]")
@click.option("--out", type=FILE, metavar="DIR", help="Folder for the page, its figures and a plot.")
@click.option("--quick", is_flag=True, help="A first look: less of everything; its ratios say little.")
def bench(*, names: tuple[str, ...], out: Path | None, quick: bool) -> None:
    """Time noise, files, learning, embedding and starts, each beside references in the same run.

    Groups: start, noise, single, files, memory, learning, training, embedding, growth; all where none is named. Takes
    about a quarter of an hour and some gigabytes of disk. Let the machine do nothing else meanwhile.
    """
    from vecveil.bench import FULL, QUICK, measured, write_page
    from vecveil.bench.page import machine_facts, page

    if out is not None and out.exists() and not out.is_dir():
        raise InvalidInputError(f"{out} is a file; name a folder to write to")
    command = " ".join(["vecveil bench", *names, *(["--quick"] if quick else [])])
    result = measured(names, QUICK if quick else FULL, progress=progress_bar)
    text = page(result, command=command, machine=machine_facts())
    output().print(text, markup=False, highlight=False, soft_wrap=True)
    if out is not None:
        for path in write_page(result, out, command=command):
            notices().print(f"written: {path}", markup=False, soft_wrap=True)
