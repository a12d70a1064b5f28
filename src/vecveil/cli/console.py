"""What the command line prints, and where: results on standard output, everything else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

PIPE_WIDTH = 100
"""Columns where no terminal says how wide it is."""


def output() -> Console:
    """Return the console for results."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def notices() -> Console:
    """Return the console for what is not a result."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else PIPE_WIDTH)


def progress_bar(items: Iterable[T], *, label: str, total: int | None = None) -> Iterator[T]:
    """Yield `items` while drawing a bar with the time left; draws nothing where no one watches."""
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
    console = notices()
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield from progress.track(items, total=total, description=label)
