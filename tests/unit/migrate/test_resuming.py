from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from support.stores import Place, failing, vectors_in
from support.veils import made_veil, rotated_shape

from vecveil.accounting.ledger import new_run, open_ledger
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.migrate import Migration, migrate
from vecveil.veil import Guard

KILLED = """
import os, signal, sys
from vecveil.migrate import migrate, open_store
from vecveil.veil import Guard

where, veil, key = sys.argv[1:]
guard = Guard(veil, key=key, ledger=veil + ".sqlite", collection="notes")
store = open_store(where, "notes")
append, written = store.append, []

def killed(name, batch):
    if len(written) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    append(name, batch)
    written.append(batch)

store.append = killed
migrate(store, guard, batch_rows=5)
"""


def migrated(place: Place, guard: Guard, *, keep_texts: bool = False, batch_rows: int = 5) -> Migration:
    with place.opened() as store:
        return migrate(store, guard, keep_texts=keep_texts, batch_rows=batch_rows)


def test_a_migration_that_fails_in_the_middle_goes_on_where_it_was(
    filled: Place, guard: Guard, vectors: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled.opened() as store:
        monkeypatch.setattr(store, "append", failing(store.append, after=2))
        with pytest.raises(KeyboardInterrupt):
            migrate(store, guard, batch_rows=5)
    done = migrated(filled, guard)
    assert (done.rows, done.resumed) == (len(vectors), 10)
    assert migrated(filled, guard).resumed == len(vectors)
    _require_same_as_in_one_go(filled, guard)


def test_a_migration_that_is_killed_goes_on_where_it_was(filled: Place, guard: Guard, vectors: Embeddings) -> None:
    before = filled.rows("notes")
    arguments = [filled.where, str(guard.veil), str(guard.key)]
    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert filled.rows("notes") == before
    on_record = replace(guard, ledger=f"{guard.veil}.sqlite")
    done = migrated(filled, on_record)
    assert (done.rows, done.resumed) == (len(vectors), 10)
    _require_same_as_in_one_go(filled, guard)
    with open_ledger(f"{guard.veil}.sqlite") as ledger:
        totals = ledger.totals()
    assert totals.records == len(vectors)
    # Of the batch that was on record and not yet written, each row was released twice; with a key that costs once.
    assert totals.releases == len(vectors) + 5
    assert totals.highest == pytest.approx(guard.protection.charge(new_run()).cost)


def _require_same_as_in_one_go(place: Place, guard: Guard) -> None:
    before, shadow = place.rows("notes"), place.rows("notes-vecveil")
    assert before is not None
    assert shadow is not None
    assert list(shadow) == list(before)
    expected = guard.vectors(vectors_in(before), ids=list(before)).astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors_in(shadow), expected, atol=1e-6)


@pytest.mark.parametrize("change", ["veil", "budget", "key", "fresh", "texts"])
def test_going_on_with_something_else_is_refused(filled: Place, guard: Guard, change: str) -> None:
    migrated(filled, guard)
    shadow = filled.rows("notes-vecveil")
    other = {
        "veil": lambda: replace(guard, veil=made_veil(epsilon=2000.0, shape=rotated_shape())),
        "budget": lambda: replace(guard, epsilon=1999.0),
        "key": lambda: replace(guard, key=Key.new()),
        "fresh": lambda: replace(guard, key=None),
        "texts": lambda: guard,
    }[change]()
    with pytest.raises(InvalidInputError, match=f"begun with another.*{change.replace('fresh', 'noise')}"):
        migrated(filled, other, keep_texts=change == "texts")
    assert filled.rows("notes-vecveil") == shadow


def test_rows_that_came_since_are_added(place: Place, guard: Guard, vectors: Embeddings) -> None:
    place.fill("notes", vectors[:12])
    migrated(place, guard)
    place.fill("notes", vectors[12:], first=12)
    if place.where.startswith("faiss"):
        with pytest.raises(InvalidInputError, match=r"notes has changed since notes-vecveil was begun"):
            migrated(place, guard)
        return
    done = migrated(place, guard)
    assert (done.rows, done.resumed) == (len(vectors), 12)
