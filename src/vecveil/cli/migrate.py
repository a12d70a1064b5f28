"""`vecveil migrate`: a vector store, in place."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from vecveil.cli.migrating import drop_clean, protect_rows, swap_names
from vecveil.cli.options import (
    FILE,
    budget_options,
    chosen_epsilon,
    chosen_ledger,
    ledger_option,
    no_ledger_option,
)
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.store import BATCH_ROWS


@click.command(short_help="Protect a vector store, in place.")
@click.argument("where", metavar="STORE")
@click.argument("collection", metavar="COLLECTION")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@budget_options
@click.option("--key", "key_file", type=FILE, metavar="FILE", help="Derive the noise from this key (see vecveil key).")
@click.option("--fresh-noise", is_flag=True, help="No key: rows that a stop takes are then paid for twice.")
@ledger_option
@no_ledger_option
@click.option(
    "--queries",
    type=FILE,
    metavar="FILE",
    help="Compare by these: texts, or vectors of the veil's model. They are released, and recorded, like any query.",
)
@click.option(
    "--k", default=10, show_default=True, type=click.IntRange(min=1), help="Hits of a search that is compared."
)
@click.option("--swap", is_flag=True, help="Give the collection's name to its shadow, which must be complete.")
@click.option("--drop-backup", is_flag=True, help="After a swap: delete the clean rows for good, with --yes.")
@click.option("--yes", is_flag=True, help="Do delete them.")
@click.option("--keep-texts", is_flag=True, help="Let texts go along. Who has them needs no vectors to read them.")
@click.option("--id-column", metavar="COLUMN", help="Column of ids.  [default: id, or the primary key]")
@click.option("--vector-column", metavar="COLUMN", help="Column or name of the vectors, where there are several.")
@click.option(
    "--batch-rows",
    default=BATCH_ROWS,
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
    drop_backup: bool,
    yes: bool,
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
    the collection stays as COLLECTION-before-vecveil: clean, until --drop-backup deletes it.

    Texts stay behind, and so does what reads like them; other fields go along as they are. In the ledger, ids belong to
    COLLECTION.
    """
    from vecveil.migrate import open_store
    from vecveil.migrate.queries import read_queries
    from vecveil.veil import Guard, Veil

    if fresh_noise and key_file is not None:
        raise InvalidInputError("noise is fresh or comes from a key: got --fresh-noise and --key")
    if not fresh_noise and key_file is None:
        raise InvalidInputError("say where the noise comes from: --key FILE (see vecveil key), or --fresh-noise")
    if swap and queries is not None:
        raise InvalidInputError("compare first (--queries), and swap (--swap) when you have seen the result")
    if drop_backup and (swap or queries is not None):
        raise InvalidInputError("drop the backup (--drop-backup) by itself, when the swap has proved good")
    asked = None if queries is None else read_queries(queries)
    recorded = chosen_ledger(ledger, no_ledger=no_ledger)
    veil = Veil.load(veil_folder)
    literal = chosen_epsilon(veil, epsilon=epsilon, scale=scale, noise_ratio=noise_ratio)
    guard = Guard(veil, epsilon=literal, key=key_file, ledger=recorded, collection=collection, embedder=embedder)
    columns = {"id_column": id_column, "vector_column": vector_column}
    with closing(open_store(where, collection, **columns)) as store:
        if swap:
            swap_names(store, guard)
        elif drop_backup:
            drop_clean(store, guard, yes=yes)
        else:
            protect_rows(store, guard, keep_texts=keep_texts, batch_rows=batch_rows, asked=asked, k=k)
