"""Migrations that are killed, in every store."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from support.migrations import migrated, require_protected
from support.stores import PLACES, Place, make_place
from vecveil.core.arrays import Embeddings
from vecveil.ledger import new_run, open_ledger
from vecveil.veil import Guard

KILLED = """
import os, signal, sys
from vecveil.migrate import migrate, open_store
from vecveil.veil import Guard

where, veil, key = sys.argv[1:]
guard = Guard(veil, key=key, ledger=veil + ".sqlite", collection="notes")
store = open_store(where, "notes")
append, written = store.append, []

def killed(batch):
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    append(batch)
    written.append(batch)

store.append = killed
migrate(store, guard, batch_rows=5)
"""


@pytest.fixture(params=[*PLACES, "pgvector"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Each of the stores, empty."""
    if request.param == "pgvector":
        found: Place = request.getfixturevalue("pgvector_place")
        return found
    return make_place(request.param, tmp_path)


def test_a_migration_that_is_killed_goes_on_where_it_was(filled: Place, guard: Guard, vectors: Embeddings) -> None:
    before = filled.rows("notes")
    arguments = [filled.where, str(guard.veil), str(guard.key)]
    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert filled.rows("notes") == before
    on_record = replace(guard, ledger=f"{guard.veil}.sqlite")
    done = migrated(filled, on_record)
    assert (done.rows, done.resumed) == (len(vectors), 10)
    require_protected(filled, guard)
    with open_ledger(f"{guard.veil}.sqlite") as ledger:
        totals = ledger.totals()
    assert totals.records == len(vectors)
    # Of the batch that was on record and not yet written, each row was released twice; with a key that costs once.
    assert totals.releases == len(vectors) + 5
    assert totals.highest == pytest.approx(guard.release.charge(new_run()).cost)
