"""`vecveil migrate`: protect a vector store in place."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vecveil.cli.console import progress_bar
from vecveil.cli.options import (
    FILE,
    Stopped,
    budget_lines,
    closing_lines,
    guard_options,
    open_guard,
    seal_options,
)
from vecveil.core.errors import InvalidInputError
from vecveil.migrate.store import BATCH_ROWS

if TYPE_CHECKING:
    from vecveil.core.arrays import Embeddings
    from vecveil.migrate import Store
    from vecveil.veil import Guard

MOST_NAMES = 30  # Names of fields that are printed, of however many there are.


@click.command(short_help="Protect a vector store, in place.")
@click.argument("where", metavar="STORE")
@click.argument("collection", metavar="COLLECTION")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@guard_options
@click.option("--key", "key_file", type=FILE, metavar="FILE", help="Derive the noise from this key (see vecveil key).")
@click.option("--fresh-noise", is_flag=True, help="No key: rows that a stop takes are then paid for twice.")
@click.option(
    "--queries",
    type=FILE,
    metavar="FILE",
    help="Compare by these: texts, or vectors of the veil's model. They are released, and recorded, like any query.",
)
@click.option("--k", default=10, show_default=True, type=click.IntRange(min=1), help="Hits of each search compared.")
@click.option("--swap", is_flag=True, help="Give the collection's name to its shadow, which must be complete.")
@click.option("--drop-backup", is_flag=True, help="After a swap: delete the clean rows for good, with --yes.")
@click.option("--yes", is_flag=True, help="Do delete them.")
@click.option("--keep-texts", is_flag=True, help="Let texts go along. Who has them needs no vectors to read them.")
@seal_options
@click.option(
    "--text-field",
    metavar="FIELD",
    help="Field of the texts, which the model reads again without their private words; none to protect the vectors as "
    "they are.  [default: the field that the vectors are of]",
)
@click.option("--id-column", metavar="COLUMN", help="Column of ids.  [default: id, or the primary key]")
@click.option("--vector-column", metavar="COLUMN", help="Column or name of the vectors, where there are several.")
@click.option(
    "--batch-rows",
    default=BATCH_ROWS,
    show_default=True,
    type=click.IntRange(min=1),
    help="Rows that are protected and written together.",
)
def migrate(
    *,
    where: str,
    collection: str,
    veil_folder: Path,
    key_file: Path | None,
    fresh_noise: bool,
    queries: Path | None,
    k: int,
    swap: bool,
    drop_backup: bool,
    yes: bool,
    keep_texts: bool,
    seal: bool,
    seal_key: Path | None,
    text_field: str | None,
    id_column: str | None,
    vector_column: str | None,
    batch_rows: int,
    **guarding: Any,
) -> None:
    """Protect COLLECTION of STORE with VEIL into a shadow beside it, and swap the two when told to.

    STORE is chroma:FOLDER, qdrant:FOLDER (local mode), lancedb:FOLDER, faiss:FOLDER (COLLECTION is the index's file) or
    postgresql://… (COLLECTION is a table with a column of pgvector).

    Without --swap only the shadow, COLLECTION-vecveil, is written; repeated, the command goes on where it was. With
    --queries it says what a search in the shadow still finds. With --swap the shadow takes the collection's name, and
    the collection stays as COLLECTION-before-vecveil: clean, until --drop-backup deletes it.

    Texts stay behind, and so does what reads like them; other fields go along as they are. In the ledger, ids belong to
    COLLECTION. With --seal, each row of the shadow gets a field seal (for FAISS, COLLECTION.seals.parquet): see
    docs/how-to/rerank.md.
    """
    from vecveil.migrate import open_store, read_queries

    if not fresh_noise and key_file is None:
        raise InvalidInputError("say where the noise comes from: --key FILE (see vecveil key), or --fresh-noise")
    if swap and queries is not None:
        raise InvalidInputError("compare first (--queries), and swap (--swap) when you have seen the result")
    if drop_backup and (swap or queries is not None):
        raise InvalidInputError("drop the backup (--drop-backup) by itself, when the swap has proved good")
    asked = None if queries is None else read_queries(queries)
    guarding |= {"fresh_noise": fresh_noise, "seal_key": seal_key, "collection": collection}
    guard = open_guard(veil_folder, key_file, **guarding)
    chosen: dict[str, Any] = {"keep_texts": keep_texts, "batch_rows": batch_rows, "text_field": text_field}
    chosen["seal"] = seal or seal_key is not None
    with closing(open_store(where, collection, id_column=id_column, vector_column=vector_column)) as store:
        if swap:
            _swap_names(store, guard)
        elif drop_backup:
            _drop_clean_rows(store, guard, yes=yes)
        else:
            _protect_rows(store, guard, queries=asked, k=k, **chosen)


def _protect_rows(
    store: Store, guard: Guard, *, queries: list[str] | Embeddings | None, k: int, seal: bool, **chosen: Any
) -> None:
    from vecveil.migrate import compare, migrate

    try:
        done = migrate(store, guard, seal=seal, progress=progress_bar, **chosen)
        resumed = f" ({done.resumed:,} of them by an earlier run)" if done.resumed else ""
        _print(f"{done.rows:,} rows protected{resumed} into {done.shadow}; {store.collection} is as it was")
        _print(f"left out: {_join_names(done.left_out)}")
        _print(f"went along: {_join_names(done.carried)}")
        if done.text_field is not None:
            _print(f"the model read {done.text_field} again, without its private words")
        if seal:
            _print("clean vectors sealed for their owner, with each row")
        _print("recorded in the ledger" if done.recorded else "not recorded in any ledger")
        sheet = guard.opened_veil.guarantee(epsilon=guard.release.mechanism.epsilon, grid=guard.grid)
        for line in budget_lines(sheet):
            _print(line)
        if queries is not None:
            click.echo(str(compare(store, guard, queries, k=k, progress=progress_bar)))
        following = f"{'compare with --queries FILE, or ' if queries is None else ''}swap with --swap"
        for line in closing_lines(sheet, guard.opened_veil.epsilon, following):
            _print(line)
    except KeyboardInterrupt:
        raise Stopped("Finished rows are kept in the shadow; repeat the command to go on.") from None


def _swap_names(store: Store, guard: Guard) -> None:
    from vecveil.migrate import swap

    try:
        done = swap(store, guard, progress=progress_bar)
    except KeyboardInterrupt:
        raise Stopped("A swap that was begun goes on when the command is repeated: repeat it.") from None
    name = store.collection
    since = f"{name} was swapped before and holds {done.rows:,} rows; those written since are as their writer made them"
    _print(since if done.before else f"{name} holds {done.rows:,} protected rows")
    if not done.before and not guard.release.is_keyed:
        _print("without a key it can't be seen whether vectors have changed since they were protected")
    kept = f"the clean rows are in {done.backup}: --drop-backup deletes them when you no longer need them"
    _print(kept if done.backup else "there are no clean rows beside it")
    _print(
        f"now restart whatever has {name} open, which may go on with the clean rows and write to them; from now on all "
        "that writes or searches must pass the guard"
    )


def _drop_clean_rows(store: Store, guard: Guard, *, yes: bool) -> None:
    from vecveil.migrate import drop_backup, find_backup

    kept = find_backup(store, guard)
    only = f", {kept.alone:,} of which {store.collection} has not" if kept.alone else ""
    if not yes:
        raise InvalidInputError(f"{kept.name} holds {kept.rows:,} clean rows{only}; to delete them for good, say --yes")
    try:
        drop_backup(store, guard)
    except KeyboardInterrupt:
        raise Stopped("A drop that was begun leaves traces; repeat the command to finish it.") from None
    _print(f"{kept.name} is gone, with {kept.rows:,} clean rows{only}")
    _print(
        "not reached from here: snapshots, backups of the file system or database, write-ahead logs that were kept, "
        "and what a disk keeps of deleted files"
    )


def _join_names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more or "nothing"


def _print(line: str) -> None:
    click.echo(line, err=True)
