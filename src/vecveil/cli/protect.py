"""`vecveil protect`: protect the texts or vectors of a file."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from vecveil.cli.console import progress_bar
from vecveil.cli.options import (
    FILE,
    Stopped,
    budget_lines,
    budget_options,
    cache_option,
    choose_ledger,
    closing_lines,
    concept_option,
    embedder_option,
    grid_option,
    ledger_options,
    seal_options,
    signed_option,
)
from vecveil.core.errors import InvalidInputError
from vecveil.veil.budget import SCALES


@click.command(short_help="Protect the texts or vectors of a file.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@click.argument("source", metavar="INPUT", type=FILE)
@click.argument("out", metavar="OUTPUT", type=FILE)
@budget_options
@click.option("--text-column", metavar="COLUMN", help="Column of texts.  [default: text, if there are no vectors]")
@click.option("--vector-column", metavar="COLUMN", help="Column of vectors that the veil's embedder made.")
@click.option(
    "--id-column",
    metavar="COLUMN",
    help="Column that says which record a row is, for the ledger and for a key.  [default: its text or vector says it]",
)
@click.option(
    "--group-column",
    metavar="COLUMN",
    help="Column that says which texts belong together, such as those of one person: with --key, a private word has "
    "one outcome in all of them.",
)
@click.option(
    "--annotations",
    "annotations_column",
    metavar="COLUMN",
    help="Column of annotated spans, where the concept reads them.  [default: entities]",
)
@click.option(
    "--key",
    "key_file",
    type=FILE,
    metavar="FILE",
    help="Derive the noise of each record from this key, so that it gets the same again (see vecveil key).",
)
@grid_option
@ledger_options
@signed_option
@click.option("--collection", default="", metavar="NAME", help="What the ids belong to, in a ledger for several.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="For experiments: noise from a seed is not private, and the output says so.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Carry a column through that is left out for safety: texts, lists of numbers, annotations, columns in which "
    "the concept finds words.",
)
@concept_option
@embedder_option
@click.option("--skip-empty", is_flag=True, help="Leave out rows that have no text.")
@click.option(
    "--batch-rows",
    type=click.IntRange(min=1),
    help="Rows that are protected and written together.  [default: 256 texts, 8192 vectors]",
)
@cache_option
@seal_options
@click.option("--overwrite", is_flag=True, help="Replace an existing output.")
@click.option(
    "--engine",
    type=click.Choice(["here", "ray", "spark"]),
    default="here",
    show_default=True,
    help="Where to run: in this process, or on Ray or Spark, with a key, from Parquet to a folder of Parquet files.",
)
def protect(
    *,
    veil_folder: Path,
    signed_by: str | None,
    source: Path,
    out: Path,
    key_file: Path | None,
    ledger: str | None,
    no_ledger: bool,
    engine: str,
    overwrite: bool,
    concept_file: Path | None,
    **settings: Any,
) -> None:
    """Protect INPUT with VEIL into OUTPUT.

    INPUT is texts (Parquet, Arrow, JSONL, CSV, TSV, lines) or vectors (Parquet, Arrow, .npy); OUTPUT is Parquet, which
    carries ids and other columns along, or .npy. The budget is what the veil keeps, unless you name another.

    A run that was stopped goes on where it was when it is repeated, and no row is noised twice. OUTPUT appears only
    when it is whole.

    Every release is recorded in a ledger, and refused where it would bring a record over the ledger's limit (see
    vecveil ledger). With --key, a record that was protected before gets the same vector again, at no further cost.

    With --seal, whoever has the key can put what a search finds into its exact order: see docs/how-to/rerank.md.
    """
    from vecveil.concepts import load_concept
    from vecveil.veil import Veil, protect_file

    settings["concept"] = None if concept_file is None else load_concept(concept_file)
    settings |= {"key": key_file, "ledger": choose_ledger(ledger, no_ledger=no_ledger)}
    settings["seal"] |= settings["seal_key"] is not None
    if engine != "here":
        settings["signed_by"] = signed_by
        _protect_on_engine(engine, veil_folder, source, out, concept_file, overwrite=overwrite, **settings)
        return
    veil = Veil.load(veil_folder, signed_by=signed_by)
    try:
        report = protect_file(veil, source, out, overwrite=overwrite, progress=progress_bar, **settings)
    except KeyboardInterrupt:
        parts = out.with_name(f"{out.name}.parts")
        kept = f"Finished rows are kept in {parts}; repeat the command to go on."
        raise Stopped(kept if parts.exists() else "Nothing is left.") from None
    unsearched = report.carried and not report.searched and veil.concept is None
    resumed = f" ({report.resumed:,} of them by an earlier run)" if report.resumed else ""
    vectors = source.suffix == ".npy" or settings["vector_column"] is not None
    texts = "TEXTS" if vectors else source
    sheet = veil.guarantee(**{name: settings[name] for name in (*SCALES, "grid")})
    for line in (
        f"{report.rows:,} rows protected{resumed}, written to {out}",
        *([f"{report.skipped:,} rows without a text left out"] if report.skipped else []),
        f"carried through: {', '.join(report.carried) or 'no column'}",
        f"left out: {', '.join(report.dropped) or 'no column'}",
        *([f"of these, the concept finds words in {', '.join(report.private)}"] if report.private else []),
        *(["Warning: other columns were not searched for the concept: name it with --concept"] if unsearched else []),
        *(["clean vectors sealed for their owner in the column seal"] if report.sealed else []),
        f"recorded in the ledger as run {report.run}" if report.recorded else "not recorded in any ledger",
        *(["seeded: not private"] if settings["seed"] is not None else []),
        *budget_lines(sheet),
        # What was measured is about texts.
        *closing_lines(sheet, None if vectors else veil.epsilon, f"vecveil audit {veil_folder} {texts} --out audit/"),
    ):
        click.echo(line, err=True)


def _protect_on_engine(
    engine: str,
    veil_folder: Path,
    source: Path,
    out: Path,
    concept_file: Path | None,
    *,
    overwrite: bool,
    **settings: Any,
) -> None:
    """Protect Parquet files into a folder on Ray or Spark."""
    from vecveil.integrations.engines import Columns
    from vecveil.veil import Guard

    refused = [
        f"--{name.replace('_', '-')}" for name in ("seed", "batch_rows", "cache") if settings.pop(name) is not None
    ]
    if refused:
        raise InvalidInputError(f"--engine {engine} does not take {', '.join(refused)}")
    if not source.exists():
        raise InvalidInputError(f"there is no file {source}")
    if source.suffix != ".parquet" and not source.is_dir():
        raise InvalidInputError(f"--engine {engine} reads Parquet, a file or a folder of them, got {source}")
    columns = Columns(**{entry.name: settings.pop(entry.name) for entry in fields(Columns)})
    for name in ("key", "seal_key"):
        if settings[name] is not None:
            settings[name] = str(settings[name].resolve())
    settings["concept"] = None if concept_file is None else str(concept_file.resolve())
    guard = Guard(str(veil_folder.resolve()), **settings)
    protect_parquet = import_module(f"vecveil.integrations.{engine}").protect_parquet
    rows = protect_parquet(source, out, guard, columns, overwrite=overwrite)
    click.echo(f"{rows:,} rows protected on {engine}, written to {out}", err=True)
    sheet = guard.opened_veil.guarantee(epsilon=guard.release.mechanism.epsilon, grid=guard.grid)
    following = f"vecveil audit {veil_folder} TEXTS --out audit/"
    for line in (*budget_lines(sheet), *closing_lines(sheet, guard.opened_veil.epsilon, following)):
        click.echo(line, err=True)
