from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.embedders import WordEmbedder
from support.migrations import migrated, require_protected, require_sealed
from support.places import text_of
from support.stores import Place, failing, vectors_in
from support.veils import PRIVATE_WORD, made_veil, rotated_shape, unit_vectors, with_words
from vecveil.concepts import terms
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import BudgetExceededError, EmbedderMismatchError, InvalidInputError, VecveilWarning
from vecveil.core.key import Key
from vecveil.ledger import new_run, open_ledger
from vecveil.migrate import drop_backup, migrate, swap
from vecveil.migrate.fields import TextFinder
from vecveil.veil import Guard


def test_the_shadow_has_every_row_protected_and_the_source_is_as_it_was(
    filled: Place, guard: Guard, vectors: Embeddings
) -> None:
    before = filled.rows("notes")
    assert before is not None
    done = migrated(filled, guard)
    assert (done.rows, done.resumed, done.shadow, done.recorded) == (len(vectors), 0, "notes-vecveil", True)
    assert filled.rows("notes") == before
    require_protected(filled, guard)
    shadow = filled.rows("notes-vecveil")
    assert shadow is not None
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


def test_vectors_stay_behind_whatever_is_asked_for(
    place_with_fields: Place, guard: Guard, vectors: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where the stores keep what they are given beside a text.
    topics = [("metadata", "topic"), ("more", "topic"), ("topic",)]
    monkeypatch.setattr(TextFinder, "find_vectors", lambda _: topics)
    place_with_fields.fill("notes", vectors)
    done = migrated(place_with_fields, guard, keep_texts=True)
    shadow = place_with_fields.rows("notes-vecveil")
    assert shadow is not None
    assert done.left_out == ("metadata.topic", "more.topic", "topic")
    assert all(row[1].get("topic") is None and row[2] is not None for row in shadow.values())


def test_what_the_ledger_would_refuse_is_refused_before_anything_is_written(filled: Place, guard: Guard) -> None:
    with open_ledger(str(guard.ledger)) as ledger:
        ledger.set_limit(guard.release.charge(new_run()).cost / 2)
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
    require_protected(filled, guard)


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


def test_seals_go_along_where_they_are_asked_for_and_nowhere_else(
    filled: Place, guard: Guard, vectors: Embeddings
) -> None:
    before = filled.rows("notes")
    done = migrated(filled, guard, seal=True)
    assert done.rows == len(vectors)
    require_sealed(filled, "notes-vecveil", guard, vectors)
    require_protected(filled, guard)
    assert filled.seals("notes") == {}
    assert filled.rows("notes") == before
    assert before is not None
    shadow = filled.rows("notes-vecveil")
    assert shadow is not None
    for old, new in zip(before.values(), shadow.values(), strict=True):
        assert {name: value for name, value in (new[1] or {}).items() if name != "seal"} == (old[1] or {})


def test_no_seal_is_written_where_nobody_asks(ready: Place) -> None:
    assert ready.seals("notes-vecveil") == {}


def test_a_stopped_migration_goes_on_with_its_seals(
    filled: Place, guard: Guard, vectors: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled.opened() as store:
        monkeypatch.setattr(store, "append", failing(store.append, after=2))
        with pytest.raises(KeyboardInterrupt):
            migrate(store, guard, seal=True, batch_rows=5)
    for other, seal in ((guard, False), (replace(guard, seal_key=Key.new()), True)):
        with pytest.raises(InvalidInputError, match="another choice about seals, or key of them"):
            migrated(filled, other, seal=seal)
    assert migrated(filled, guard, seal=True).resumed == 10
    # A complete shadow is compared with the collection, which has no seals.
    assert migrated(filled, guard, seal=True).resumed == len(vectors)
    require_sealed(filled, "notes-vecveil", guard, vectors)


def test_seals_have_a_key_of_their_own_where_one_is_named(filled: Place, guard: Guard, vectors: Embeddings) -> None:
    own = replace(guard, key=None, seal_key=Key.new())
    migrated(filled, own, seal=True)
    require_sealed(filled, "notes-vecveil", own, vectors)
    with pytest.raises(InvalidInputError, match="does not open"):
        require_sealed(filled, "notes-vecveil", guard, vectors)


def test_seals_without_a_key_are_refused_before_anything_is_written(filled: Place, guard: Guard) -> None:
    with pytest.raises(InvalidInputError, match="seals need a key"):
        migrated(filled, replace(guard, key=None), seal=True)
    assert filled.rows("notes-vecveil") is None


def test_a_field_where_seals_belong_is_refused_before_anything_is_written(
    place_with_fields: Place, guard: Guard, vectors: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_with_fields.fill("notes", vectors)
    with place_with_fields.opened() as store:
        path = next(iter(store.read_batches("notes", 1))).payload[0]
        monkeypatch.setattr(type(store), "seal_path", ("metadata", "topic") if "metadata" in path else (min(path),))
        with pytest.raises(InvalidInputError, match="where seals belong"):
            migrate(store, guard, seal=True)
    assert place_with_fields.rows("notes-vecveil") is None


def test_a_swap_takes_the_seals_along(filled: Place, guard: Guard, vectors: Embeddings) -> None:
    migrated(filled, guard, seal=True)
    with filled.opened() as store:
        swap(store, guard)
        swap(store, guard)
        drop_backup(store, guard)
    require_sealed(filled, "notes", guard, vectors)
    found = filled.seals("notes")
    hits = guard.rerank(vectors[3], [*found], [*found.values()])
    assert hits[0].row == 3


@pytest.fixture
def word_guard(guard: Guard) -> Guard:
    """A guard whose veil removes private words."""
    return replace(guard, veil=with_words(guard.opened_veil, terms(PRIVATE_WORD)))


def test_the_model_reads_texts_again_without_their_private_words(place: Place, word_guard: Guard) -> None:
    if not place.has_payload:
        return
    texts = [text_of(row) for row in range(12)]
    place.fill("notes", WordEmbedder().embed(texts))
    with place.opened() as store:
        done = migrate(store, word_guard, batch_rows=5)
        again = migrate(store, word_guard, batch_rows=5)
    assert done.text_field is not None
    assert (done.rows, again.resumed) == (12, 12)
    shadow = place.rows("notes-vecveil")
    assert shadow is not None
    unrecorded = replace(word_guard.release, ledger=None)
    expected = unrecorded.protect_texts(texts, WordEmbedder(), ids=[*shadow]).astype(np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors_in(shadow), expected, atol=1e-3)
    assert not any(PRIVATE_WORD in str(row) for row in shadow.values())
    with place.opened() as store:
        assert swap(store, word_guard).rows == 12


def test_vectors_of_other_texts_are_protected_as_they_are(filled: Place, word_guard: Guard) -> None:
    with filled.opened() as store, pytest.warns(VecveilWarning, match="without their texts"):
        assert migrate(store, word_guard).text_field is None


def test_a_field_that_is_named_must_hold_the_texts_of_the_vectors(filled: Place, word_guard: Guard) -> None:
    with filled.opened() as store:
        with pytest.raises(InvalidInputError, match="not every row of notes has a text in the field 'elsewhere'"):
            migrate(store, word_guard, text_field="elsewhere")
        finder = TextFinder()
        for batch in store.read_batches("notes", 50):
            finder.add(batch.payload)
        for path in finder.find_full_texts(store.count("notes") or 0)[:1]:
            with pytest.raises(InvalidInputError, match="are not those that words makes of the texts"):
                migrate(store, word_guard, text_field=".".join(path))
        assert store.count("notes-vecveil") is None
