from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.embedders import WordEmbedder
from support.veils import made_veil, unit_vectors, with_words
from vecveil.concepts import terms
from vecveil.core.errors import InvalidInputError
from vecveil.core.key import Key
from vecveil.files.key_file import write_key
from vecveil.files.vectors import read_vectors, to_vector_column
from vecveil.ledger import open_ledger
from vecveil.veil import Guard
from vecveil.veil.batches import BatchProtection, has_text, protect_batch, take_filled
from vecveil.veil.columns import ColumnPlan

TEXTS = ["she rests well", None, "a calm visit", "  ", ""]
BATCH = pa.record_batch({"id": ["a", "b", "c", "d", "e"], "text": TEXTS})
VECTORS = pa.record_batch({"id": ["a", "b", "c"], "vector": to_vector_column(unit_vectors(3))})


def _plan(batch: Any, **options: Any) -> ColumnPlan:
    return ColumnPlan.for_schema(batch.schema, **options)


def _guard(place: Path, **settings: Any) -> Guard:
    made_veil(epsilon=30.0).save(place / "a.veil")
    write_key(Key.new(), place / "a.key")
    return Guard(place / "a.veil", key=place / "a.key", **settings)


def _protection(guard: Guard, batch: Any, **options: Any) -> BatchProtection:
    plan = _plan(batch, ids="id")
    schema = plan.output_schema(batch.schema, guard.dimensions, guard.grid)
    return BatchProtection(guard=guard, plan=plan, schema=schema, **options)


def test_rows_without_a_text_are_found_and_left_out() -> None:
    plan = _plan(BATCH)
    assert has_text(plan, BATCH) == [True, False, True, False, False]
    assert take_filled(plan, BATCH)["id"].to_pylist() == ["a", "c"]
    assert has_text(_plan(VECTORS), VECTORS) == [True, True, True]
    assert take_filled(_plan(VECTORS), VECTORS) is VECTORS


def test_a_batch_comes_out_as_its_texts_and_its_vectors_do() -> None:
    release, key = made_veil(epsilon=30.0).release, Key.new()
    filled, plan = take_filled(_plan(BATCH), BATCH), _plan(BATCH, ids="id")
    texts = release(key=key).protect_texts([TEXTS[0], TEXTS[2]], WordEmbedder(), ids=["a", "c"])  # type: ignore[list-item]
    np.testing.assert_array_equal(protect_batch(release(key=key), plan, filled, WordEmbedder()).vectors, texts)
    vectors = release(key=key).protect_vectors(unit_vectors(3))
    np.testing.assert_array_equal(protect_batch(release(key=key), _plan(VECTORS), VECTORS, None).vectors, vectors)


def test_a_row_at_fault_is_named_by_its_number_in_the_whole() -> None:
    release = made_veil(epsilon=30.0).release()
    with pytest.raises(InvalidInputError, match="row 101 has no text"):
        protect_batch(release, _plan(BATCH), BATCH, WordEmbedder(), first_row=100)
    short = pa.record_batch({"vector": to_vector_column(unit_vectors(3, 5))})
    with pytest.raises(InvalidInputError, match="must have 8 dimensions, got 5 in row 100"):
        protect_batch(release, _plan(short), short, None, first_row=100)


def test_no_rows_give_no_vectors() -> None:
    release = made_veil(epsilon=30.0).release(grid="int8")
    empty = protect_batch(release, _plan(BATCH), BATCH.slice(0, 0), WordEmbedder()).vectors
    assert (empty.shape, empty.dtype) == ((0, 8), np.int8)


def test_an_engine_needs_noise_from_a_key() -> None:
    with pytest.raises(InvalidInputError, match="may run a part twice: protect with a key"):
        _protection(Guard(made_veil(epsilon=30.0)), VECTORS)


def test_a_protection_makes_the_same_wherever_it_is_sent_and_takes_no_key_along(tmp_path: Path) -> None:
    guard = _guard(tmp_path, ledger=tmp_path / "ledger.sqlite", grid="float16")
    protection = _protection(guard, VECTORS)
    sent = pickle.dumps(protection)
    secret: Key = guard.release.noise.key  # type: ignore[attr-defined]
    assert secret.secret not in sent
    assert secret.secret.hex().encode() not in sent
    first, second = (pickle.loads(sent) for _ in range(2))  # noqa: S301
    assert first(VECTORS).equals(protection(VECTORS))
    # One guard for all parts of a worker: one model, and one run in the ledger.
    assert first.guard is second.guard
    second(VECTORS)
    with open_ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.totals().releases == 9
        assert sorted(run.releases for run in ledger.runs()) == [3, 6]


def test_a_protection_leaves_rows_without_a_text_out_where_asked(tmp_path: Path) -> None:
    guard = _guard(tmp_path, embedder=WordEmbedder())
    found = _protection(guard, BATCH, skip_empty=True)(BATCH)
    assert found.schema.names == ["id", "vector"]
    assert found["id"].to_pylist() == ["a", "c"]
    wanted = guard.protect_texts([TEXTS[0], TEXTS[2]], ids=["a", "c"])  # type: ignore[list-item]
    np.testing.assert_array_equal(read_vectors(found["vector"]), wanted)
    with pytest.raises(InvalidInputError, match="row 1 has no text"):
        _protection(guard, BATCH)(BATCH)


@pytest.mark.parametrize("words", [False, True])
def test_seals_hold_the_clean_vectors_and_change_no_protected_one(tmp_path: Path, words: bool) -> None:
    guard, model = _guard(tmp_path), WordEmbedder()
    veil = with_words(guard.opened_veil, terms("rests")) if words else guard.opened_veil
    filled, plan = take_filled(_plan(BATCH), BATCH), _plan(BATCH, ids="id", seals=True)
    sealer = veil.sealer(tmp_path / "a.key")
    release = veil.release(key=tmp_path / "a.key")
    sealed = protect_batch(release, plan, filled, model, sealer)
    np.testing.assert_array_equal(sealed.vectors, protect_batch(release, plan, filled, WordEmbedder()).vectors)
    clean = WordEmbedder().embed([TEXTS[0], TEXTS[2]])  # type: ignore[list-item]
    np.testing.assert_allclose(sealer.open(sealed.seals, ["a", "c"]), clean, atol=1e-3)
    # Only a text whose words were replaced is read twice.
    assert model.asked == (["she well", TEXTS[2], TEXTS[0]] if words else [TEXTS[0], TEXTS[2]])
    of_vectors = protect_batch(release, _plan(VECTORS, ids="id", seals=True), VECTORS, None, sealer)
    np.testing.assert_allclose(sealer.open(of_vectors.seals, ["a", "b", "c"]), unit_vectors(3), atol=1e-3)


def test_seals_are_the_same_wherever_a_batch_is_sent(tmp_path: Path) -> None:
    guard = _guard(tmp_path, embedder=None)
    protection = replace(_protection(guard, VECTORS), plan=_plan(VECTORS, ids="id", seals=True))
    protection = replace(protection, schema=protection.plan.output_schema(VECTORS.schema, 8, "float32"))
    there = pickle.loads(pickle.dumps(protection))  # noqa: S301
    done = there(VECTORS)
    assert done.equals(protection(VECTORS))
    assert done.schema.names == ["id", "vector", "seal"]
    np.testing.assert_allclose(guard.sealer.open(done["seal"].to_pylist(), ["a", "b", "c"]), unit_vectors(3), atol=1e-3)
