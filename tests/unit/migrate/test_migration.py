from __future__ import annotations

import numpy as np
import pytest
from support.stores import Place, vectors_in
from support.veils import PRIVATE_WORD, unit_vectors

from vecveil.accounting.ledger import new_run, open_ledger
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import BudgetExceededError, EmbedderMismatchError, InvalidInputError
from vecveil.migrate import Migration, migrate
from vecveil.migrate.texts import TextFinder
from vecveil.veil import Guard


def migrated(place: Place, guard: Guard, *, keep_texts: bool = False, batch_rows: int = 5) -> Migration:
    with place.opened() as store:
        return migrate(store, guard, keep_texts=keep_texts, batch_rows=batch_rows)


def test_the_shadow_has_every_row_protected_and_the_source_is_as_it_was(
    filled: Place, guard: Guard, vectors: Embeddings
) -> None:
    before = filled.rows("notes")
    assert before is not None
    done = migrated(filled, guard)
    assert (done.rows, done.resumed, done.shadow, done.recorded) == (len(vectors), 0, "notes-vecveil", True)
    assert filled.rows("notes") == before
    shadow = filled.rows("notes-vecveil")
    assert shadow is not None
    assert list(shadow) == list(before)
    # What the guard makes of each row, brought to length one.
    expected = guard.vectors(vectors_in(before), ids=list(before)).astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors_in(shadow), expected, atol=1e-6)
    assert not np.allclose(vectors_in(shadow), vectors_in(before), atol=1e-4)


def test_fields_go_along_and_texts_stay_behind_unless_asked_for(filled: Place, guard: Guard) -> None:
    before = filled.rows("notes")
    assert before is not None
    done = migrated(filled, guard)
    shadow = filled.rows("notes-vecveil")
    assert shadow is not None
    assert [row[1] for row in shadow.values()] == [row[1] for row in before.values()]
    assert {row[2] for row in shadow.values()} == {None}
    assert bool(done.left_out) == bool(done.carried) == filled.has_payload
    assert PRIVATE_WORD not in str(shadow)


def test_texts_go_along_when_asked_for(filled: Place, guard: Guard) -> None:
    before = filled.rows("notes")
    done = migrated(filled, guard, keep_texts=True)
    shadow = filled.rows("notes-vecveil")
    assert before is not None
    assert shadow is not None
    assert done.left_out == ()
    assert [row[1:] for row in shadow.values()] == [row[1:] for row in before.values()]


@pytest.mark.parametrize("place", ["qdrant", "lancedb"], indirect=True)
def test_vectors_stay_behind_whatever_is_asked_for(filled: Place, guard: Guard) -> None:
    class Found(TextFinder):
        def vectors(self) -> list[tuple[str, ...]]:
            return [("more", "topic"), ("topic",)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vecveil.migrate.migration.TextFinder", Found)
        done = migrated(filled, guard, keep_texts=True)
    shadow = filled.rows("notes-vecveil")
    assert shadow is not None
    assert done.left_out == ("more.topic", "topic")
    assert all(row[1].get("topic") is None and row[2] is not None for row in shadow.values())


def test_what_the_ledger_would_refuse_is_refused_before_anything_is_written(filled: Place, guard: Guard) -> None:
    with open_ledger(str(guard.ledger)) as ledger:
        ledger.set_limit(guard.protection.charge(new_run()).cost / 2)
    with pytest.raises(BudgetExceededError, match="23 records would go over the limit"):
        migrated(filled, guard)
    assert filled.rows("notes-vecveil") is None


def test_a_shadow_of_someone_else_is_not_touched(filled: Place, guard: Guard) -> None:
    filled.fill("notes-vecveil", unit_vectors(2))
    before = filled.rows("notes-vecveil")
    with pytest.raises(InvalidInputError, match="not from here"):
        migrated(filled, guard)
    assert filled.rows("notes-vecveil") == before


def test_a_missing_collection_is_named_beside_those_that_there_are(filled: Place, guard: Guard) -> None:
    with filled.opened("letters") as store, pytest.raises(InvalidInputError, match=r"no collection 'letters'.*notes"):
        migrate(store, guard)


def test_an_empty_collection_is_refused(place: Place, guard: Guard) -> None:
    place.fill("notes", unit_vectors(0))
    with pytest.raises(InvalidInputError, match="notes has no rows"):
        migrated(place, guard)
    assert place.rows("notes-vecveil") is None


def test_vectors_of_another_length_are_refused_before_anything_is_written(place: Place, guard: Guard) -> None:
    place.fill("notes", unit_vectors(3, 5))
    with pytest.raises(InvalidInputError, match="must have 8 dimensions, got 5"):
        migrated(place, guard)
    assert place.rows("notes-vecveil") is None


def test_a_vector_that_is_not_of_length_one_is_named_by_its_row(
    place: Place, guard: Guard, vectors: Embeddings
) -> None:
    long = vectors.copy()
    long[13] *= 3
    place.fill("notes", long)
    with pytest.raises(EmbedderMismatchError, match="row 13 has another length"):
        migrated(place, guard)
    assert place.rows("notes-vecveil") is None
