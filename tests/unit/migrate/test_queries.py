from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.migrate.queries import read_queries


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
