"""`vecveil migrate`: a vector store, in place."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from vecveil.cli.console import progress_bar
from vecveil.cli.options import (
    FILE,
    Stopped,
    budget_options,
    chosen_epsilon,
    chosen_ledger,
    ledger_option,
    no_ledger_option,
)
from vecveil.core.errors import InvalidInputError


@click.command(short_help="Protect a vector store, in place.")
@click.argument("where", metavar="STORE")
@click.argument("collection", metavar="COLLECTION")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@budget_options
@click.option("--key", "key_file", type=FILE, metavar="FILE", help="Derive the noise from this key (see vecveil key).")
@click.option("--fresh-noise", is_flag=True, help="No key: rows that a stop takes are then paid for twice.")
@ledger_option
@no_ledger_option
@click.option("--queries", type=FILE, metavar="FILE", help="Compare by these: texts, or vectors of the veil's model.")
@click.option(
    "--k", default=10, show_default=True, type=click.IntRange(min=1), help="Hits of a search that is compared."
)
@click.option("--swap", is_flag=True, help="Give the collection's name to its shadow, which must be complete.")
@click.option("--keep-texts", is_flag=True, help="Let texts go along. Who has them needs no vectors to read them.")
@click.option("--id-column", metavar="COLUMN", help="Column of ids.  [default: id, or the primary key]")
@click.option("--vector-column", metavar="COLUMN", help="Column or name of the vectors, where there are several.")
@click.option(
    "--batch-rows",
    default=1000,
    show_default=True,
    type=click.IntRange(min=1),
    help="Rows that are protected and written together.",
)
@click.option("--embedder", help="Where to find the embedder, if not under the name the veil was learned with.")
def migrate(
    *,
    where: str,
    collection: str,
    veil_folder: Path,
    epsilon: float | None,
    scale: str,
    noise_ratio: float | None,
    key_file: Path | None,
    fresh_noise: bool,
    ledger: str | None,
    no_ledger: bool,
    queries: Path | None,
    k: int,
    swap: bool,
    keep_texts: bool,
    id_column: str | None,
    vector_column: str | None,
    batch_rows: int,
    embedder: str | None,
) -> None:
    """Protect COLLECTION of STORE with VEIL into a shadow beside it, and swap the two when told to.

    STORE is chroma:FOLDER, qdrant:FOLDER (local mode), lancedb:FOLDER, faiss:FOLDER (COLLECTION is the index's file) or
    postgresql://… (COLLECTION is a table with a column of pgvector).

    Without --swap only the shadow, COLLECTION-vecveil, is written; repeated, the command goes on where it was. With
    --queries it says what a search in the shadow still finds. With --swap the shadow takes the collection's name, and
    the collection stays as COLLECTION-before-vecveil: clean, until you delete it.

    Texts stay behind, and so does what reads like them; other fields go along as they are. In the ledger, ids belong to
    COLLECTION.
    """
    from vecveil.migrate import compare, open_store
    from vecveil.migrate import migrate as copy
    from vecveil.migrate import swap as exchange
    from vecveil.migrate.queries import read_queries
    from vecveil.veil import Guard, Veil

    if fresh_noise == (key_file is not None):
        raise InvalidInputError("say where the noise comes from: --key FILE (see vecveil key), or --fresh-noise")
    if swap and queries is not None:
        raise InvalidInputError("compare first (--queries), and swap (--swap) when you have seen the result")
    asked = None if queries is None else read_queries(queries)
    recorded = chosen_ledger(ledger, no_ledger=no_ledger)
    veil = Veil.load(veil_folder)
    literal = chosen_epsilon(veil, epsilon=epsilon, scale=scale, noise_ratio=noise_ratio)
    guard = Guard(veil, epsilon=literal, key=key_file, ledger=recorded, collection=collection, embedder=embedder)
    columns = {"id_column": id_column, "vector_column": vector_column}
    with closing(open_store(where, collection, **columns)) as store:
        try:
            if swap:
                done = exchange(store, guard)
                click.echo(
                    f"{collection} holds {done.rows:,} protected rows{' already' if done.before else ''}; the clean "
                    f"ones are in {done.backup}: delete it when you no longer need it",
                    err=True,
                )
                return
            made = copy(store, guard, keep_texts=keep_texts, batch_rows=batch_rows, progress=progress_bar)
            resumed = f" ({made.resumed:,} of them by an earlier run)" if made.resumed else ""
            click.echo(f"{made.rows:,} rows protected{resumed} into {made.shadow}; {collection} is as it was", err=True)
            click.echo(f"left out: {', '.join(made.left_out) or 'nothing'}", err=True)
            click.echo("recorded in the ledger" if made.recorded else "not recorded in any ledger", err=True)
            if asked is not None:
                click.echo(str(compare(store, guard, asked, k=k, progress=progress_bar)))
            click.echo(
                f"next: {'' if asked is not None else 'compare with --queries FILE, or '}swap with --swap", err=True
            )
        except KeyboardInterrupt:
            raise Stopped("Finished rows are kept in the shadow; repeat the command to go on.") from None
