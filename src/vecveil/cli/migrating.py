"""The three steps of `vecveil migrate`, and what they say: a shadow, the swap, and the end of the clean rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vecveil.cli.console import progress_bar
from vecveil.cli.options import Stopped, budget_lines
from vecveil.core.errors import InvalidInputError

if TYPE_CHECKING:
    from vecveil.core.arrays import Embeddings
    from vecveil.migrate import Store
    from vecveil.veil import Guard

SHOWN = 30
"""Names of fields that are printed, of however many there are."""


def protect_rows(
    store: Store, guard: Guard, *, keep_texts: bool, batch_rows: int, asked: list[str] | Embeddings | None, k: int
) -> None:
    """Make or finish the shadow, compare where queries are given, and say what went along."""
    from vecveil.migrate import compare, migrate

    try:
        made = migrate(store, guard, keep_texts=keep_texts, batch_rows=batch_rows, progress=progress_bar)
        resumed = f" ({made.resumed:,} of them by an earlier run)" if made.resumed else ""
        _say(f"{made.rows:,} rows protected{resumed} into {made.shadow}; {store.collection} is as it was")
        _say(f"left out: {_listed(made.left_out)}")
        _say(f"went along: {_listed(made.carried)}")
        _say("recorded in the ledger" if made.recorded else "not recorded in any ledger")
        for line in budget_lines(guard.opened_veil.guarantee(epsilon=guard.protection.epsilon, grid=guard.grid)):
            _say(line)
        if asked is not None:
            click.echo(str(compare(store, guard, asked, k=k, progress=progress_bar)))
        _say(f"next: {'' if asked is not None else 'compare with --queries FILE, or '}swap with --swap")
    except KeyboardInterrupt:
        raise Stopped("Finished rows are kept in the shadow; repeat the command to go on.") from None


def swap_names(store: Store, guard: Guard) -> None:
    """Swap, and say where the clean rows are and what to do now."""
    from vecveil.migrate import swap

    try:
        done = swap(store, guard, progress=progress_bar)
    except KeyboardInterrupt:
        raise Stopped("A swap that was begun goes on when the command is repeated: repeat it.") from None
    name = store.collection
    if done.before:
        _say(
            f"{name} was swapped before and holds {done.rows:,} rows; those written since are as their writer made them"
        )
    else:
        _say(f"{name} holds {done.rows:,} protected rows")
        if not guard.protection.keyed:
            _say("without a key it can't be seen whether vectors have changed since they were protected")
    if done.backup is None:
        _say("there are no clean rows beside it")
    else:
        _say(f"the clean rows are in {done.backup}: --drop-backup deletes them when you no longer need them")
    _say(
        f"now restart whatever has {name} open, which may go on with the clean rows and write to them; from now on all "
        "that writes or searches must pass the guard"
    )


def drop_clean(store: Store, guard: Guard, *, yes: bool) -> None:
    """Delete the clean rows where that is meant, and say what may be left of them elsewhere."""
    from vecveil.migrate import drop_backup, find_backup

    found = find_backup(store, guard)
    alone = f", {found.alone:,} of which {store.collection} has not" if found.alone else ""
    if not yes:
        raise InvalidInputError(
            f"{found.name} holds {found.rows:,} clean rows{alone}; to delete them for good, say --yes"
        )
    try:
        done = drop_backup(store, guard)
    except KeyboardInterrupt:
        raise Stopped("A drop that was begun leaves traces; repeat the command to finish it.") from None
    _say(f"{done.name} is gone, with {done.rows:,} clean rows{alone}")
    _say(
        "not reached from here: snapshots, backups of the file system or database, write-ahead logs that were kept, "
        "and what a disk keeps of deleted files"
    )


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more or "nothing"


def _say(line: str) -> None:
    click.echo(line, err=True)
