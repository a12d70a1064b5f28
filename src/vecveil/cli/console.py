"""What the command line prints, and where: results on standard output, everything else on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

PIPE_WIDTH = 100
"""Columns where no terminal says how wide it is."""

LOG_SECONDS = 60.0
"""How often long work tells a log how far it is."""


def output() -> Console:
    """Return the console for results."""
    return _console(stderr=False, terminal=sys.stdout.isatty())


def notices() -> Console:
    """Return the console for what is not a result."""
    return _console(stderr=True, terminal=sys.stderr.isatty())


def _console(*, stderr: bool, terminal: bool) -> Console:
    from rich.console import Console

    # Texts, labels and paths are shown as they are: square brackets are no markup in them, and colons no emoji.
    return Console(
        stderr=stderr,
        highlight=False,
        markup=False,
        emoji=False,
        # On standard error a long path must stay in one piece, to be copied; results are laid out.
        soft_wrap=stderr,
        width=None if terminal else PIPE_WIDTH,
    )


def progress_bar(
    items: Iterable[T], *, label: str, total: int | None = None, weigh: Callable[[T], int] | None = None
) -> Iterator[T]:
    """Yield `items` while drawing a bar with the time left; where no one watches, a line now and then for the log."""
    console = notices()
    if not console.is_terminal:
        yield from _logged(items, label=label, total=total, weigh=weigh)
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(label, total=total)
        for item in items:
            yield item
            progress.advance(task, 1 if weigh is None else weigh(item))


def _logged(items: Iterable[T], *, label: str, total: int | None, weigh: Callable[[T], int] | None) -> Iterator[T]:
    done, told = 0, time.monotonic()
    for item in items:
        yield item
        done += 1 if weigh is None else weigh(item)
        if time.monotonic() - told >= LOG_SECONDS:
            click.echo(f"{label}: {done:,}" + ("" if total is None else f" of {total:,}"), err=True)
            told = time.monotonic()
