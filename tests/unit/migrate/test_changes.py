from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.stores import Place
from support.veils import unit_vectors

from vecveil.accounting.ledger import open_ledger
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import Batch, migrate, swap
from vecveil.migrate.changes import again, protected
from vecveil.veil import Guard

WITH_FIELDS = ["chroma", "qdrant", "lancedb", "pgvector"]
"""Stores that compare rows here; FAISS tells by the file that something has changed."""


def test_a_row_that_got_another_vector_is_not_swapped_away(filled: Place, guard: Guard) -> None:
    with filled.opened() as store:
        migrate(store, guard, batch_rows=5)
    filled.revise("notes", 3, vector=unit_vectors(1, seed=77)[0])
    before = filled.rows("notes")
    for work in (swap, migrate):
        with filled.opened() as store, pytest.raises(InvalidInputError, match="changed since"):
            work(store, guard)
    assert filled.rows("notes") == before


@pytest.mark.parametrize("place", WITH_FIELDS, indirect=True)
def test_a_row_that_got_another_field_is_not_swapped_away_even_without_a_key(filled: Place, guard: Guard) -> None:
    fresh = replace(guard, key=None)
    with filled.opened() as store:
        migrate(store, fresh, batch_rows=5)
    filled.revise("notes", 3, topic="another")
    filled.revise("notes", 4, topic="another")
    with filled.opened() as store, pytest.raises(InvalidInputError, match="2 rows of notes have changed since"):
        swap(store, fresh)


@pytest.mark.parametrize("place", WITH_FIELDS, indirect=True)
def test_without_a_key_a_vector_that_changed_can_not_be_noticed(filled: Place, guard: Guard) -> None:
    fresh = replace(guard, key=None)
    with filled.opened() as store:
        migrate(store, fresh)
    filled.revise("notes", 3, vector=unit_vectors(1, seed=77)[0])
    with filled.opened() as store:
        assert swap(store, fresh).rows == 23


def test_what_is_protected_again_is_the_same_and_not_recorded(guard: Guard) -> None:
    batch = Batch(ids=["a", 7], vectors=unit_vectors(2), payload=[{}, {}])
    first = protected(guard, batch)
    assert np.allclose(np.linalg.norm(first, axis=1), 1, atol=1e-6)
    assert np.array_equal(again(guard, batch), first)
    with open_ledger(str(guard.ledger)) as ledger:
        assert ledger.totals().releases == 2
