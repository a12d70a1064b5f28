"""Fixtures of all tests that migrate a store; `place` and `place_with_fields` say which stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.embedders import WordEmbedder
from support.stores import Place
from support.veils import made_veil, unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.migrate import migrate
from vecveil.veil import Guard

__all__ = ["filled", "guard", "ready", "vectors"]

ROWS = 23


@pytest.fixture
def vectors() -> Embeddings:
    """Clean vectors."""
    return unit_vectors(ROWS)


@pytest.fixture
def filled(place: Place, vectors: Embeddings) -> Place:
    """A store with notes in it."""
    place.fill("notes", vectors)
    return place


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    """A guard of names and paths, but for its embedder, with so little noise that searches stay useful."""
    made_veil(epsilon=2000.0).save(tmp_path / "a.veil")
    write_key(Key.new(), tmp_path / "a.key")
    return Guard(
        str(tmp_path / "a.veil"),
        key=str(tmp_path / "a.key"),
        ledger=str(tmp_path / "ledger.sqlite"),
        collection="notes",
        embedder=WordEmbedder(),
    )


@pytest.fixture
def ready(filled: Place, guard: Guard) -> Place:
    """A store with a complete shadow."""
    with filled.opened() as store:
        migrate(store, guard)
    return filled
