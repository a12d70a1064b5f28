"""`vecveil ledger`: show, check, export and limit what was released."""

import csv
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.table import Column, Table

from vecveil.cli.console import output, progress_bar, say
from vecveil.cli.options import FILE, flag, ledger_option, option
from vecveil.core.atomic import atomic_file, exists_already
from vecveil.core.checks import not_negative, one_of
from vecveil.core.errors import InvalidInputError
from vecveil.files import open_source
from vecveil.files.output import read_label
from vecveil.files.writers import ROW_GROUP, write_parquet
from vecveil.ledger import Ledger, LedgerEntry, RunSummary, default_ledger, open_ledger
from vecveil.ledger.ledger import RENAMED, UNIT, WORD_UNIT
from vecveil.veil.ledger_run import HEAD

Rows = list[dict[str, Any]]

COLUMNS = ("run", "row", "kind", "record", "token", "veil", "mechanism", "epsilon", "distance", "cost", "noise", "time")
"""Columns of an export."""


@click.group(short_help="Show, check and limit what was released.")
def ledger() -> None:
    """Look into the ledger that every release is recorded in, and set limits for what a record may lose.

    Costs are worst-case nats per unit of Euclidean distance, in which releases of different veils add up.
    """


@ledger.command(short_help="Show runs, sums and the limit.")
@ledger_option
@flag("--json", "Print JSON in place of a table.", into="as_json")
def show(*, ledger: str | None, as_json: bool) -> None:
    """Show the limit, every run, and the most that any record has lost."""
    with _open(ledger) as opened:
        limit, word_limit, totals, runs = opened.limit, opened.word_limit, opened.totals(), opened.runs()
    if as_json:
        facts = {"ledger": opened.where, "id": opened.id, "unit": UNIT, "limit": limit, "word_limit": word_limit}
        listed = [
            {**asdict(run.charge), "started": run.started.isoformat(), "releases": run.releases, "records": run.records}
            for run in runs
        ]
        click.echo(json.dumps({**facts, **totals._asdict(), "runs": listed}, indent=2, ensure_ascii=False))
        return
    click.echo(f"ledger:   {opened.where}")
    click.echo(f"limit:    {_to_text(limit)}{'' if limit is None else f' {UNIT}, for each record'}")
    click.echo(f"highest:  {totals.highest:.6g} {UNIT}, the most that any record has lost")
    click.echo(f"words:    limit {_to_text(word_limit)}, highest {totals.highest_words:.6g} {WORD_UNIT}")
    click.echo(f"records:  {totals.records:,}\nreleases: {totals.releases:,}")
    if runs:
        _print_runs(runs)


@ledger.command(short_help="Check that the ledger is whole.")
@ledger_option
@option(
    "--output FILE",
    "Also check a protected file, or a folder that an engine wrote: its rows are on record, and this is the ledger it "
    "was recorded in. May be repeated.",
    into="outputs",
    multiple=True,
)
def check(*, ledger: str | None, outputs: tuple[Path, ...]) -> None:
    """Check the database, that nothing was taken out or changed, and that no record is over the limit.

    Ends with exit code 1 if anything is wrong.
    """
    with _open(ledger) as opened:
        problems = opened.problems()
        runs = {run.charge.run: run for run in opened.runs()}
        problems += [problem for path in outputs if (problem := _check_output(path, runs, opened)) is not None]
    for problem in problems:
        click.echo(f"problem: {problem}")
    if problems:
        click.get_current_context().exit(1)
    files = "" if not outputs else f", {len(outputs)} file{'' if len(outputs) == 1 else 's'}"
    click.echo(f"no problem found: {opened.where}, {len(runs):,} run{'' if len(runs) == 1 else 's'}{files}")


@ledger.command(short_help="Write every release to a file.")
@click.argument("path", metavar="FILE", type=FILE)
@ledger_option
@flag("--overwrite", "Replace an existing file.")
def export(*, path: Path, ledger: str | None, overwrite: bool) -> None:
    """Write one row per release to FILE: .csv, .jsonl or .parquet, which no one but you can read."""
    with _open(ledger) as opened:
        one_of(path.suffix, _WRITERS, "ending of an export")
        if path.exists() and not overwrite:
            raise exists_already(path)
        total = opened.totals().releases
        groups = progress_bar(_read_groups(opened, total), label="exporting", total=total, weigh=len)
        with atomic_file(path) as draft:
            _WRITERS[path.suffix](draft, groups)
    say(f"{total:,} releases written to {path}")


class NumberCommand(click.Command):
    """A command that takes a negative number for an argument, where click would take it for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Let a negative number pass; any other unknown option is still an error."""
        ctx.ignore_unknown_options = any(re.match(r"-(\.?\d|inf|nan)", arg) for arg in args)
        return super().parse_args(ctx, args)


@ledger.command(cls=NumberCommand, short_help="Set the most that a record may lose.")
@click.argument("nats", metavar="NATS|none")
@flag("--words", "Limit what a record loses over its private words, in nats, instead.")
@ledger_option
def limit(*, nats: str, words: bool, ledger: str | None) -> None:
    """Let no record lose more than NATS nats per unit of Euclidean distance over all releases; `none` for no limit.

    With --words the limit is for private words that are randomized, and leaves the other as it is. Counts at once for
    everyone who uses the ledger. It is made where there is none.
    """
    number = _parse_limit(nats)
    with _open(ledger, create=True) as opened:
        totals = opened.totals()
        (opened.set_word_limit if words else opened.set_limit)(number)
    highest, unit = (totals.highest_words, WORD_UNIT) if words else (totals.highest, UNIT)
    click.echo(f"limit of {opened.where}: {_to_text(number)}{'' if number is None else f' {unit}'}")
    if number is not None and highest > number:
        say(f"Warning: a record has lost {highest:.6g} already; it is released no more.")


@ledger.command("renamed", short_help="Choose what becomes of vectors under two names.")
@click.argument("choice", type=click.Choice(RENAMED))
@ledger_option
def choose_renamed(*, choice: str, ledger: str | None) -> None:
    """Warn of, or refuse, a vector that is released again as another record.

    One text by two ids, in two collections, with and without an id, or in upper case for a model that reads none, is
    one vector. The limit counts its releases together either way. Counts at once for everyone who uses the ledger.
    """
    with _open(ledger, create=True) as opened:
        opened.set_renamed(choice)
    click.echo(f"vectors under two names in {opened.where}: {choice}")


def _open(where: str | None, *, create: bool = False) -> Ledger:
    return open_ledger(default_ledger() if where is None else where, create=create)


def _to_text(limit: float | None) -> str:
    return "none" if limit is None else f"{limit:.6g}"


def _parse_limit(nats: str) -> float | None:
    if nats.casefold() == "none":
        return None
    try:
        number = float(nats)
    except ValueError:
        raise InvalidInputError(f"a limit is a number or none, got {nats!r}") from None
    return not_negative(number, "limit")


def _print_runs(runs: Sequence[RunSummary]) -> None:
    names = ("started (UTC)", "kind", "veil", "mechanism", "epsilon", "distance", "noise")
    columns = [Column(name, overflow="fold") for name in names]
    columns += [Column(name, justify="right", no_wrap=True) for name in ("records", "releases")]
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for run in runs:
        table.add_row(
            f"{run.started:%Y-%m-%d %H:%M}",
            run.charge.kind,
            run.charge.veil[:8],
            run.charge.mechanism,
            "not bounded" if run.charge.epsilon is None else f"{run.charge.epsilon:.6g}",
            (run.charge.distance or "").removesuffix(" distance"),
            run.charge.noise,
            f"{run.records:,}",
            f"{run.releases:,}",
        )
    output().print(table)


def _check_output(path: Path, runs: Mapping[str, RunSummary], ledger: Ledger) -> str | None:
    """Return what is wrong between a protected file and the runs on record, in words; None if all is well."""
    label = read_label(path)
    if not isinstance(label, dict):
        return f"{path} does not say of itself that vecveil made it"
    if label.get("ledger") == "none":
        problem = "was made without a ledger: none of its rows is on record"
    elif path.is_dir():
        # Each process of an engine has a run of its own.
        known = label.get("veil") in {run.charge.veil for run in runs.values()}
        problem = "" if known else "was made with a veil of which nothing is on record"
    else:
        problem = _compare_rows(open_source(path).rows, label, runs.get(str(label.get("run"))))
    if not problem and not ledger.knows(str(label.get(HEAD))):
        problem = "was finished at a head that this ledger does not know: it was rewritten, or is an older copy"
    return f"{path} {problem}" if problem else None


def _compare_rows(rows: int, label: Mapping[str, Any], run: RunSummary | None) -> str:
    """Return what is wrong between a file and its run; nothing where all is well."""
    if run is None:
        return f"was made by run {label.get('run')}, which is not in this ledger"
    if run.releases != rows:
        return f"has {rows:,} rows, but {run.releases:,} are on record for its run {run.charge.run}"
    if label.get("veil") != run.charge.veil:
        return f"was made with another veil than is on record for its run {run.charge.run}"
    return ""


def _read_groups(ledger: Ledger, total: int) -> Iterator[Rows]:
    # Others may go on to record meanwhile.
    rows = map(_to_row, itertools.islice(ledger.releases(), total))
    while group := list(itertools.islice(rows, ROW_GROUP)):
        yield group


def _to_row(entry: LedgerEntry) -> dict[str, Any]:
    own = {"row": entry.row, "record": entry.record.hex(), "token": entry.token.hex(), "time": entry.at.isoformat()}
    values = {**vars(entry.charge), **own}
    return {name: values[name] for name in COLUMNS}


def _write_csv(path: Path, groups: Iterable[Rows]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(itertools.chain.from_iterable(groups))


def _write_jsonl(path: Path, groups: Iterable[Rows]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row, ensure_ascii=False) + "\n" for group in groups for row in group)


def _write_parquet(path: Path, groups: Iterable[Rows]) -> None:
    import pyarrow as pa

    kinds = {"row": pa.int64(), "epsilon": pa.float64(), "cost": pa.float64()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    write_parquet(path, (pa.RecordBatch.from_pylist(group, schema=schema) for group in groups), schema)


_WRITERS = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
