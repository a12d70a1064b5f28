"""`vecveil protect`: protect the texts or vectors of a file."""

from dataclasses import fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from vecveil.cli import options
from vecveil.cli.console import progress_bar, say
from vecveil.cli.options import AT_LEAST_ONE, AT_LEAST_ZERO, FILE, flag, option
from vecveil.concepts import load_concept
from vecveil.core.errors import InvalidInputError, join_names
from vecveil.integrations.engines import Columns
from vecveil.veil import Guard, Veil, protect_file
from vecveil.veil.budget import SCALES


@click.command(short_help="Protect the texts or vectors of a file.")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@click.argument("source", metavar="INPUT", type=FILE)
@click.argument("out", metavar="OUTPUT", type=FILE)
@options.budget_options
@option("--text-column COLUMN", "Column of texts.  [default: text, if there are no vectors]")
@option("--vector-column COLUMN", "Column of vectors that the veil's embedder made.")
@option(
    "--id-column COLUMN",
    "Column that says which record a row is, for the ledger and for a key.  [default: its text or vector says it]",
)
@option(
    "--group-column COLUMN",
    "Column that says which texts belong together, such as those of one person: with --key, a private word has one "
    "outcome in all of them.",
)
@option(
    "--annotations COLUMN",
    "Column of annotated spans, where the concept reads them.  [default: entities]",
    into="annotations_column",
)
@option(
    "--key FILE",
    "Derive the noise of each record from this key, so that it gets the same again (see vecveil key).",
    into="key_file",
)
@options.grid_option
@options.ledger_options
@options.signed_option
@option("--collection NAME", "What the ids belong to, in a ledger for several.", default="")
@option("--seed N", "For experiments: noise from a seed is not private, and the output says so.", type=AT_LEAST_ZERO)
@option(
    "--keep COLUMN",
    "Carry a column through that is left out for safety: texts, lists of numbers, annotations, columns in which the "
    "concept finds words.",
    multiple=True,
)
@options.concept_option
@options.embedder_option
@flag("--skip-empty", "Leave out rows that have no text.")
@option(
    "--batch-rows",
    "Rows that are protected and written together.  [default: 256 texts, 8192 vectors]",
    type=AT_LEAST_ONE,
)
@options.cache_option
@options.seal_options
@flag("--overwrite", "Replace an existing output.")
@option(
    "--engine",
    "Where to run: in this process, or on Ray or Spark, with a key, from Parquet to a folder of Parquet files.",
    type=click.Choice(["here", "ray", "spark"]),
    default="here",
)
def protect(
    *,
    veil_folder: Path,
    source: Path,
    out: Path,
    key_file: Path | None,
    ledger: str | None,
    no_ledger: bool,
    engine: str,
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
    settings |= {"key": key_file, "ledger": options.choose_ledger(ledger, no_ledger=no_ledger)}
    settings["seal"] |= settings["seal_key"] is not None
    run = _protect_here if engine == "here" else partial(_protect_on_engine, engine)
    say(*run(veil_folder, source, out, concept_file, **settings))


def _protect_here(
    veil_folder: Path, source: Path, out: Path, concept_file: Path | None, *, signed_by: str | None, **settings: Any
) -> list[str]:
    """Protect a file in this process, and return what to say."""
    settings["concept"] = None if concept_file is None else load_concept(concept_file)
    veil = Veil.load(veil_folder, signed_by=signed_by)
    try:
        report = protect_file(veil, source, out, progress=progress_bar, **settings)
    except KeyboardInterrupt:
        parts = out.with_name(f"{out.name}.parts")
        kept = f"Finished rows are kept in {parts}; repeat the command to go on."
        raise options.Stopped(kept if parts.exists() else "Nothing is left.") from None
    unsearched = report.carried and not report.searched and veil.concept is None
    resumed = f" ({report.resumed:,} of them by an earlier run)" if report.resumed else ""
    vectors = source.suffix == ".npy" or settings["vector_column"] is not None
    texts = "TEXTS" if vectors else source
    sheet = veil.guarantee(**{name: settings[name] for name in (*SCALES, "grid")})
    return [
        f"{report.rows:,} rows protected{resumed}, written to {out}",
        *([f"{report.skipped:,} rows without a text left out"] if report.skipped else []),
        f"carried through: {join_names(report.carried) if report.carried else 'no column'}",
        f"left out: {join_names(report.dropped) if report.dropped else 'no column'}",
        *([f"of these, the concept finds words in {', '.join(report.private)}"] if report.private else []),
        *(["Warning: other columns were not searched for the concept: name it with --concept"] if unsearched else []),
        *(["clean vectors sealed for their owner in the column seal"] if report.sealed else []),
        f"recorded in the ledger as run {report.run}" if report.recorded else "not recorded in any ledger",
        *(["seeded: not private"] if settings["seed"] is not None else []),
        *options.budget_lines(sheet),
        # What was measured is about texts.
        *options.closing_lines(
            sheet, None if vectors else veil.epsilon, f"vecveil audit {veil_folder} {texts} --out audit/"
        ),
    ]


def _protect_on_engine(
    engine: str,
    veil_folder: Path,
    source: Path,
    out: Path,
    concept_file: Path | None,
    *,
    overwrite: bool,
    **settings: Any,
) -> list[str]:
    """Protect Parquet files into a folder on Ray or Spark, and return what to say."""
    unknown = [name for name in ("seed", "batch_rows", "cache") if settings.pop(name) is not None]
    if unknown:
        refused = ", ".join(f"--{name.replace('_', '-')}" for name in unknown)
        raise InvalidInputError(f"--engine {engine} does not take {refused}")
    if not source.exists():
        raise InvalidInputError(f"there is no file {source}")
    if source.suffix != ".parquet" and not source.is_dir():
        raise InvalidInputError(f"--engine {engine} reads Parquet, a file or a folder of them, got {source}")
    columns = Columns(**{entry.name: settings.pop(entry.name) for entry in fields(Columns)})
    for name, path in {**settings, "concept": concept_file}.items():
        if isinstance(path, Path):
            settings[name] = str(path.resolve())
    guard = Guard(str(veil_folder.resolve()), **settings)
    protect_parquet = import_module(f"vecveil.integrations.{engine}").protect_parquet
    rows = protect_parquet(source, out, guard, columns, overwrite=overwrite)
    sheet = options.guard_sheet(guard)
    following = f"vecveil audit {veil_folder} TEXTS --out audit/"
    return [
        f"{rows:,} rows protected on {engine}, written to {out}",
        *options.budget_lines(sheet),
        *options.closing_lines(sheet, guard.opened_veil.epsilon, following),
    ]
