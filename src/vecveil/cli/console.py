"""Consoles and progress bars.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

    from vecveil.concepts import Span

T = TypeVar("T")

PIPE_WIDTH = 100
"""Columns where no terminal says how wide it is."""

FIRST_SECONDS, LOG_SECONDS = 5.0, 60.0
"""When long work first tells a log how far it is, and how often at last; it doubles in between."""

ENOUGH = 0.2
"""Share of the work that must be done before the time left is told."""

_DRAWN: list[Progress] = []
"""The bars on the terminal, of which there can be one set; empty while nothing is drawn."""


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


def say(*lines: str) -> None:
    """Print lines that are no result."""
    for line in lines:
        click.echo(line, err=True)


def mark_spans(text: str, spans: tuple[Span, ...]) -> Text:
    """Return `text` with each span in brackets and in color, followed by its label."""
    from rich.text import Text

    # One character for one, so that the offsets stay.
    text = text.replace("\n", "↵")
    shown, end = Text(), 0
    for span in spans:
        shown.append(text[end : span.start])
        # Brackets as well as color, so that the marks survive a pipe.
        shown.append(f"[{text[span.start : span.end]}]", style="bold red")
        shown.append(span.label, style="dim red")
        end = span.end
    return shown.append(text[end:])


def progress_bar(
    items: Iterable[T], *, label: str, total: int | None = None, weigh: Callable[[T], int] | None = None
) -> Iterator[T]:
    """Yield `items` while drawing a bar with the time left; where no one watches, a line now and then for the log."""
    console = notices()
    if not console.is_terminal:
        yield from _log_lines(items, label=label, total=total, weigh=weigh)
        return
    from rich import progress

    kinds = (progress.BarColumn, progress.MofNCompleteColumn, progress.TimeElapsedColumn, progress.TimeRemainingColumn)
    with ExitStack() as held:
        if not _DRAWN:
            _DRAWN.append(
                held.enter_context(
                    progress.Progress("{task.description}", *(kind() for kind in kinds), console=console)
                )
            )
            held.callback(_DRAWN.clear)
        # Work inside other work gets a line below it, and takes the line away when it is done or left.
        task = _DRAWN[0].add_task(label, total=total)
        held.callback(_DRAWN[0].remove_task, task)
        for item in items:
            yield item
            _DRAWN[0].advance(task, 1 if weigh is None else weigh(item))


def _log_lines(items: Iterable[T], *, label: str, total: int | None, weigh: Callable[[T], int] | None) -> Iterator[T]:
    done, told, pause = 0, time.monotonic(), FIRST_SECONDS
    first: tuple[int, float] | None = None
    for item in items:
        yield item
        done += 1 if weigh is None else weigh(item)
        now = time.monotonic()
        # The first step may load a model, so that the time it takes says little of the others.
        first = first or (done, now)
        if now - told >= pause:
            left = "" if total is None else _time_left(done - first[0], total - done, now - first[1])
            say(f"{label}: {done:,}{'' if total is None else f' of {total:,}'}{left}")
            told, pause = now, min(2 * pause, LOG_SECONDS)


def _time_left(done: int, left: int, seconds: float) -> str:
    # Steps differ, so that a few of them say little.
    if left <= 0 or done < ENOUGH * (done + left):
        return ""
    minutes = seconds * left / done / 60
    return f", about {minutes:,.0f} minute{'' if round(minutes) == 1 else 's'} left" if minutes >= 1 else ""
