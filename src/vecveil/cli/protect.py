"""`vecveil protect`: texts or vectors in, protected vectors out."""

from __future__ import annotations

from pathlib import Path

import click

from vecveil.cli.console import progress_bar
from vecveil.cli.engine import protect_on_engine, refuse_with_engine
from vecveil.cli.options import (
    FILE,
    Stopped,
    budget_lines,
    budget_options,
    chosen_epsilon,
    chosen_ledger,
    grid_option,
    ledger_option,
    no_ledger_option,
)


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
    "--key",
    "key_file",
    type=FILE,
    metavar="FILE",
    help="Derive the noise of each record from this key, so that it gets the same again (see vecveil key).",
)
@grid_option
@ledger_option
@no_ledger_option
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
    help="Carry a column through that is left out for safety: texts, lists of numbers, annotations.",
)
@click.option("--embedder", help="Where to find the embedder, if not under the name the veil was learned with.")
@click.option("--skip-empty", is_flag=True, help="Leave out rows that have no text.")
@click.option(
    "--batch-rows",
    type=click.IntRange(min=1),
    help="Rows that are protected and written together.  [default: 256 texts, 8192 vectors]",
)
@click.option("--cache", type=FILE, metavar="DIR", help="Keep clean embeddings here. As sensitive as the texts.")
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
    source: Path,
    out: Path,
    epsilon: float | None,
    scale: str,
    noise_ratio: float | None,
    text_column: str | None,
    vector_column: str | None,
    id_column: str | None,
    key_file: Path | None,
    grid: str,
    ledger: str | None,
    no_ledger: bool,
    collection: str,
    seed: int | None,
    keep: tuple[str, ...],
    embedder: str | None,
    skip_empty: bool,
    batch_rows: int | None,
    cache: Path | None,
    overwrite: bool,
    engine: str,
) -> None:
    """Protect INPUT with VEIL into OUTPUT.

    INPUT is texts (Parquet, Arrow, JSONL, CSV, TSV, lines) or vectors (Parquet, Arrow, .npy); OUTPUT is Parquet, which
    carries ids and other columns along, or .npy. The budget is --epsilon, --noise-ratio, or what the veil keeps.

    A run that was stopped goes on where it was when it is repeated, and no row is noised twice. OUTPUT appears only
    when it is whole.

    Every release is recorded in a ledger, and refused where it would bring a record over the ledger's limit (see
    vecveil ledger). With --key, a record that was protected before gets the same vector again, at no further cost.
    """
    from vecveil.artifacts.key_file import read_key
    from vecveil.integrations.parts import Columns
    from vecveil.veil import Guard, Veil, protect_file

    where = chosen_ledger(ledger, no_ledger=no_ledger)
    key = None if key_file is None else read_key(key_file)
    veil = Veil.load(veil_folder)
    literal = chosen_epsilon(veil, epsilon=epsilon, scale=scale, noise_ratio=noise_ratio)
    if engine != "here":
        refuse_with_engine(engine, {"--seed": seed, "--batch-rows": batch_rows, "--cache": cache})
        guard = Guard(
            str(veil_folder.resolve()),
            epsilon=literal,
            key=None if key_file is None else str(key_file.resolve()),
            ledger=where,
            collection=collection,
            grid=grid,
            embedder=embedder,
        )
        columns = Columns(
            text_column=text_column, vector_column=vector_column, id_column=id_column, keep=keep, skip_empty=skip_empty
        )
        protect_on_engine(engine, source, out, guard, columns, overwrite=overwrite)
        return
    try:
        report = protect_file(
            veil,
            source,
            out,
            epsilon=literal,
            text_column=text_column,
            vector_column=vector_column,
            id_column=id_column,
            key=key,
            grid=grid,
            ledger=where,
            collection=collection,
            seed=seed,
            keep=keep,
            skip_empty=skip_empty,
            batch_rows=batch_rows,
            embedder=embedder,
            cache=cache,
            overwrite=overwrite,
            progress=progress_bar,
        )
    except KeyboardInterrupt:
        parts = out.with_name(f"{out.name}.parts")
        kept = (
            f"Finished rows are kept in {parts}; repeat the command to go on." if parts.exists() else "Nothing is left."
        )
        raise Stopped(kept) from None
    resumed = f" ({report.resumed:,} of them by an earlier run)" if report.resumed else ""
    sheet = veil.guarantee(epsilon=literal, grid=grid)
    for line in (
        f"{report.rows:,} rows protected{resumed}, written to {out}",
        *([f"{report.skipped:,} rows without a text left out"] if report.skipped else []),
        f"carried through: {', '.join(report.carried) or 'no column'}",
        f"left out: {', '.join(report.dropped) or 'no column'}",
        f"recorded in the ledger as run {report.run}" if report.recorded else "not recorded in any ledger",
        *(["seeded: not private"] if seed is not None else []),
        *budget_lines(sheet),
    ):
        click.echo(line, err=True)
