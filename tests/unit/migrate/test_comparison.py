from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.stores import Place
from support.veils import unit_vectors
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError, InvalidRowError, VecveilWarning
from vecveil.migrate import compare, migrate, read_queries
from vecveil.migrate.comparison import compare_hits
from vecveil.veil import Guard


def test_the_figures_are_right_on_a_case_made_by_hand() -> None:
    before = [["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]]
    after = [["a", "b"], ["d", "x"], ["f", "e"], ["y", "z"]]
    found = compare_hits(before, after, k=2)
    assert (found.queries, found.k) == (4, 2)
    # 1, 1/2, 1 and 0.
    assert found.recall == pytest.approx(0.625)
    assert found.error == pytest.approx(np.std([1, 0.5, 1, 0], ddof=1) / 2)
    assert (found.poor, found.first, found.kept) == (0.0, 0.25, 0.5)
    assert str(found).startswith("recall@2 0.625 ± 0.239 over 4 queries; nine of ten reach 0.00;")


def test_a_single_query_has_no_error() -> None:
    found = compare_hits([["a"]], [["a"]], k=1)
    assert np.isnan(found.error)
    assert str(found) == "recall@1 1.000 for a single query"


@pytest.mark.filterwarnings("ignore:the ledger knows")
def test_a_shadow_with_hardly_any_noise_finds_the_same(filled: Place, guard: Guard, vectors: Embeddings) -> None:
    quiet = replace(guard, epsilon=1e5)
    with filled.opened() as store:
        migrate(store, quiet)
        found = compare(store, quiet, vectors, k=3)
        assert (found.queries, found.recall, found.first) == (len(vectors), 1.0, 1.0)
        assert found == compare(store, quiet, vectors, k=3)
        texts = compare(store, quiet, ["a cold day", "rain again"], k=3)
        assert (texts.queries, texts.recall) == (2, 1.0)


def test_a_shadow_of_noise_finds_what_chance_does(filled: Place, guard: Guard) -> None:
    with pytest.warns(VecveilWarning, match="times as long as an embedding"):
        loud = replace(guard, epsilon=0.01)
    with filled.opened() as store:
        migrate(store, loud)
        found = compare(store, loud, unit_vectors(60, seed=3), k=3)
    # 3 of 23 rows; the error of the mean is a fortieth.
    assert found.recall == pytest.approx(3 / 23, abs=0.1)


def test_what_compares_nothing_is_refused(filled: Place, guard: Guard) -> None:
    with filled.opened() as store:
        with pytest.raises(InvalidInputError, match="there is no notes-vecveil to compare"):
            compare(store, guard, ["rain"])
        migrate(store, guard)
        with pytest.raises(InvalidInputError, match="a search for 23 finds all of 23 rows"):
            compare(store, guard, ["rain"], k=23)
        with pytest.raises(InvalidInputError, match="at least one query"):
            compare(store, guard, [])
        with pytest.raises(InvalidInputError, match="must have 8 dimensions, got 5"):
            compare(store, guard, unit_vectors(2, 5))


def test_texts_are_read_from_any_table(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    assert read_queries(tmp_path / "a.txt") == read_queries(tmp_path / "a.jsonl") == ["one", "two"]


def test_vectors_are_read_where_there_are_no_texts(tmp_path: Path) -> None:
    vectors = unit_vectors(3)
    np.save(tmp_path / "a.npy", vectors)
    assert np.array_equal(read_queries(tmp_path / "a.npy"), vectors)


def test_what_is_no_query_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": " "}\n')
    with pytest.raises(InvalidRowError, match=r"row 1 of .* has no text"):
        read_queries(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text('{"note": "one"}\n')
    with pytest.raises(InvalidInputError, match="must have a column 'text'"):
        read_queries(tmp_path / "b.jsonl")
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "c.parquet")
    with pytest.raises(InvalidInputError, match="has no rows"):
        read_queries(tmp_path / "c.parquet")
