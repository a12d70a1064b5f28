from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chromadb.api.models.Collection import Collection
from qdrant_client import QdrantClient
from support.stores import Place, failing
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.migrate import Swap, migrate, swap
from vecveil.migrate.pgvector_database import Database
from vecveil.veil import Guard

STOPS: dict[str, list[tuple[type[Any], str, int]]] = {
    "chroma": [(Collection, "modify", 0), (Collection, "modify", 1)],
    "qdrant": [
        (QdrantClient, "upsert", 0),
        (QdrantClient, "delete_collection", 0),
        (QdrantClient, "update_collection_aliases", 0),
    ],
    "lancedb": [(Path, "rename", 0), (Path, "rename", 1)],
    "faiss": [(Path, "replace", 0), (Path, "replace", 1), (Path, "unlink", 1)],
    "postgresql": [(Database, "rename", 0), (Database, "rename", 1)],
}
"""By store: what a swap calls, and how often that works before the program is stopped."""


def swapped(place: Place, guard: Guard) -> Swap:
    with place.opened() as store:
        return swap(store, guard)


def test_a_swap_that_was_stopped_anywhere_goes_on(ready: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    for owner, name, works in STOPS[ready.where.partition(":")[0]]:
        with monkeypatch.context() as patch:
            _stop(patch, owner, name, works)
            with ready.opened() as store, pytest.raises(KeyboardInterrupt):
                swap(store, guard)
        # Wherever it was stopped, the clean rows are whole somewhere.
        assert clean in (ready.rows("notes"), ready.rows("notes-before-vecveil"))
    swapped(ready, guard)
    assert ready.rows("notes") == shadow
    assert ready.rows("notes-before-vecveil") == clean


def _stop(patch: pytest.MonkeyPatch, owner: type[Any], name: str, works: int) -> None:
    patch.setattr(owner, name, failing(getattr(owner, name), after=works))


@pytest.mark.parametrize("place", ["chroma", "lancedb"], indirect=True)
def test_an_empty_collection_that_came_into_a_stopped_swap_gives_way(
    ready: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean, shadow = ready.rows("notes"), ready.rows("notes-vecveil")
    with monkeypatch.context() as patch:
        _stop(patch, *STOPS[ready.where.partition(":")[0]][1])
        with ready.opened() as store, pytest.raises(KeyboardInterrupt):
            swap(store, guard)
    assert ready.rows("notes") is None
    with ready.opened() as store, pytest.raises(InvalidInputError, match="23 rows: a swap of it was stopped; repeat"):
        migrate(store, guard)
    ready.fill("notes", unit_vectors(0))
    with ready.opened() as store, pytest.raises(InvalidInputError, match="a swap of it was stopped; repeat"):
        migrate(store, guard)
    swapped(ready, guard)
    assert ready.rows("notes") == shadow
    assert ready.rows("notes-before-vecveil") == clean


@pytest.mark.parametrize("place", ["chroma", "lancedb"], indirect=True)
def test_rows_that_came_into_a_stopped_swap_are_kept_like_the_others(
    ready: Place, guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        _stop(patch, *STOPS[ready.where.partition(":")[0]][1])
        with ready.opened() as store, pytest.raises(KeyboardInterrupt):
            swap(store, guard)
    ready.fill("notes", unit_vectors(2))
    kept = [ready.rows(name) for name in ("notes", "notes-vecveil", "notes-before-vecveil")]
    for work in (swap, migrate):
        with ready.opened() as store, pytest.raises(InvalidInputError, match="with 23 rows; they may be the only"):
            work(store, guard)
    assert [ready.rows(name) for name in ("notes", "notes-vecveil", "notes-before-vecveil")] == kept
