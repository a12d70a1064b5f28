"""`vecveil ledger`: what was released, what it cost, and how much more may be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vecveil.accounting.ledger.charge import UNIT
from vecveil.cli.console import output, progress_bar
from vecveil.cli.options import FILE, ledger_option
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.accounting.ledger import Ledger


@click.group(short_help="Show, check and limit what was released.")
def ledger() -> None:
    """Look into the ledger that every release is recorded in, and set the limit for what a record may lose.

    Costs are worst-case nats per unit of Euclidean distance, in which releases of different veils add up.
    """


@ledger.command(short_help="Show runs, sums and the limit.")
@ledger_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON in place of a table.")
def show(*, ledger: str | None, as_json: bool) -> None:
    """Show the limit, every run, and the most that any record has lost."""
    from vecveil.cli.ledger_results import described, facts, runs_table

    with _opened(ledger) as book:
        limit, totals, runs = book.limit, book.totals(), book.runs()
        if as_json:
            click.echo(json.dumps(described(book, limit, totals, runs), indent=2, ensure_ascii=False))
            return
        for line in facts(book, limit, totals):
            click.echo(line)
        if runs:
            output().print(runs_table(runs))


@ledger.command(short_help="Check that the ledger is whole.")
@ledger_option
@click.option(
    "--output",
    "outputs",
    multiple=True,
    type=FILE,
    metavar="FILE",
    help="Also check that a protected file has as many rows as are recorded for it. May be repeated.",
)
def check(*, ledger: str | None, outputs: tuple[Path, ...]) -> None:
    """Check the database, that no row of a run is missing, and that no record is over the limit.

    Ends with exit code 1 if anything is wrong.
    """
    from vecveil.cli.ledger_outputs import output_problem

    with _opened(ledger) as book:
        problems = book.problems()
        runs = {run.charge.run: run for run in book.runs()}
        problems += [problem for path in outputs if (problem := output_problem(path, runs)) is not None]
        where = book.where
    for problem in problems:
        click.echo(f"problem: {problem}")
    if problems:
        click.get_current_context().exit(1)
    files = "" if not outputs else f", {len(outputs)} file{'' if len(outputs) == 1 else 's'}"
    click.echo(f"no problem found: {where}, {len(runs):,} run{'' if len(runs) == 1 else 's'}{files}")


@ledger.command(short_help="Write every release to a file.")
@click.argument("path", metavar="FILE", type=FILE)
@ledger_option
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
def export(*, path: Path, ledger: str | None, overwrite: bool) -> None:
    """Write one row per release to FILE: .csv, .jsonl or .parquet, which no one but you can read."""
    from vecveil.cli.ledger_export import export_releases

    with _opened(ledger) as book:
        rows = export_releases(book, path, overwrite=overwrite, progress=progress_bar)
    click.echo(f"{rows:,} releases written to {path}", err=True)


@ledger.command(short_help="Set the most that a record may lose.")
@click.argument("nats", metavar="NATS|none")
@ledger_option
def limit(*, nats: str, ledger: str | None) -> None:
    """Let no record lose more than NATS nats per unit of Euclidean distance over all releases; `none` for no limit.

    Counts at once for everyone who uses the ledger. It is made where there is none.
    """
    with _opened(ledger, create=True) as book:
        book.set_limit(_number(nats))
        kept = book.limit
        highest = book.totals().highest
        click.echo(f"limit of {book.where}: {'none' if kept is None else f'{kept:.6g} {UNIT}'}")
    if kept is not None and highest > kept:
        click.echo(f"Warning: a record has lost {highest:.6g} already; it is released no more.", err=True)


def _number(nats: str) -> float | None:
    if nats.casefold() == "none":
        return None
    try:
        return float(nats)
    except ValueError:
        raise InvalidInputError(f"a limit is a number or none, got {nats!r}") from None


def _opened(where: str | None, *, create: bool = False) -> Ledger:
    from vecveil.accounting.ledger import default_ledger, open_ledger

    return open_ledger(default_ledger() if where is None else where, create=create)
