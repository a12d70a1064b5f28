"""`vecveil migrate`: protect a vector store in place."""

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from vecveil.cli import options
from vecveil.cli.console import progress_bar, say
from vecveil.cli.options import AT_LEAST_ONE, FILE, flag, option
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import BATCH_ROWS, Store, compare, drop_backup, find_backup, open_store, read_queries, swap
from vecveil.migrate import migrate as migrate_rows
from vecveil.veil import Guard

MOST_NAMES = 30  # Names of fields that are printed, of however many there are.


@click.command(short_help="Protect a vector store, in place.")
@click.argument("where", metavar="STORE")
@click.argument("collection", metavar="COLLECTION")
@click.argument("veil_folder", metavar="VEIL", type=FILE)
@options.guard_options
@option("--key FILE", "Derive the noise from this key (see vecveil key).", into="key_file")
@flag("--fresh-noise", "No key: rows that a stop takes are then paid for twice.")
@option(
    "--queries FILE",
    "Compare by these: texts, or vectors of the veil's model. They are released, and recorded, like any query.",
)
@option("--k", "Hits of each search compared.", default=10, type=AT_LEAST_ONE)
@flag("--swap", "Give the collection's name to its shadow, which must be complete.")
@flag("--drop-backup", "After a swap: delete the clean rows for good, with --yes.")
@flag("--yes", "Do delete them.")
@flag("--keep-texts", "Let texts go along. Who has them needs no vectors to read them.")
@options.seal_options
@option(
    "--text-field FIELD",
    "Field of the texts, which the model reads again without their private words; none to protect the vectors as they "
    "are.  [default: the field that the vectors are of]",
)
@option("--id-column COLUMN", "Column of ids.  [default: id, or the primary key]")
@option("--vector-column COLUMN", "Column or name of the vectors, where there are several.")
@option("--batch-rows", "Rows that are protected and written together.", default=BATCH_ROWS, type=AT_LEAST_ONE)
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
    id_column: str | None,
    vector_column: str | None,
    seal_key: Path | None,
    **settings: Any,
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
    if not fresh_noise and key_file is None:
        raise InvalidInputError("say where the noise comes from: --key FILE (see vecveil key), or --fresh-noise")
    if swap and queries is not None:
        raise InvalidInputError("compare first (--queries), and swap (--swap) when you have seen the result")
    if drop_backup and (swap or queries is not None):
        raise InvalidInputError("drop the backup (--drop-backup) by itself, when the swap has proved good")
    asked = None if queries is None else read_queries(queries)
    chosen = {name: settings.pop(name) for name in ("keep_texts", "batch_rows", "text_field", "seal")}
    chosen["seal"] |= seal_key is not None
    settings |= {"fresh_noise": fresh_noise, "seal_key": seal_key, "collection": collection}
    guard = options.open_guard(veil_folder, key_file, **settings)
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
    with options.stop_with("Finished rows are kept in the shadow; repeat the command to go on."):
        done = migrate_rows(store, guard, seal=seal, progress=progress_bar, **chosen)
        resumed = f" ({done.resumed:,} of them by an earlier run)" if done.resumed else ""
        sheet = options.guard_sheet(guard)
        reread = f"the model read {done.text_field} again, without its private words"
        say(
            f"{done.rows:,} rows protected{resumed} into {done.shadow}; {store.collection} is as it was",
            f"left out: {_join_names(done.left_out)}",
            f"went along: {_join_names(done.carried)}",
            *([reread] if done.text_field is not None else []),
            *(["clean vectors sealed for their owner, with each row"] if seal else []),
            "recorded in the ledger" if done.recorded else "not recorded in any ledger",
            *options.budget_lines(sheet),
        )
        if queries is not None:
            click.echo(str(compare(store, guard, queries, k=k, progress=progress_bar)))
        following = f"{'compare with --queries FILE, or ' if queries is None else ''}swap with --swap"
        say(*options.closing_lines(sheet, guard.opened_veil.epsilon, following))


def _swap_names(store: Store, guard: Guard) -> None:
    with options.stop_with("A swap that was begun goes on when the command is repeated: repeat it."):
        done = swap(store, guard, progress=progress_bar)
    name = store.collection
    since = f"{name} was swapped before and holds {done.rows:,} rows; those written since are as their writer made them"
    unseen = not done.before and not guard.release.is_keyed
    kept = f"the clean rows are in {done.backup}: --drop-backup deletes them when you no longer need them"
    say(
        since if done.before else f"{name} holds {done.rows:,} protected rows",
        *(["without a key it can't be seen whether vectors have changed since they were protected"] if unseen else []),
        kept if done.backup else "there are no clean rows beside it",
        f"now restart whatever has {name} open, which may go on with the clean rows and write to them; from now on all "
        "that writes or searches must pass the guard",
    )


def _drop_clean_rows(store: Store, guard: Guard, *, yes: bool) -> None:
    kept = find_backup(store, guard)
    only = f", {kept.alone:,} of which {store.collection} has not" if kept.alone else ""
    if not yes:
        raise InvalidInputError(f"{kept.name} holds {kept.rows:,} clean rows{only}; to delete them for good, say --yes")
    with options.stop_with("A drop that was begun leaves traces; repeat the command to finish it."):
        drop_backup(store, guard)
    say(
        f"{kept.name} is gone, with {kept.rows:,} clean rows{only}",
        "not reached from here: snapshots, backups of the file system or database, write-ahead logs that were kept, "
        "and what a disk keeps of deleted files",
    )


def _join_names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more or "nothing"
