from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from vecveil.core.errors import ArtifactError, InvalidInputError, UnknownNameError
from vecveil.embedders import PrecomputedEmbedder
from vecveil.embedders.precomputed import from_spec

TEXTS = ["a", "b", "secret"]
VECTORS = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, -1.0]], dtype=np.float32)


def _write(path: Path, texts: Any = None, vectors: Any = None, kind: Any = None) -> Path:
    columns = {
        "text": pa.array(TEXTS if texts is None else texts),
        "vector": pa.array(VECTORS.tolist() if vectors is None else vectors, type=kind or pa.list_(pa.float32())),
    }
    parquet.write_table(pa.table(columns), path)
    return path


def test_a_text_has_the_vector_it_came_with() -> None:
    embedder = PrecomputedEmbedder.from_vectors(TEXTS, VECTORS.tolist(), model="toy")
    found = embedder.embed(["secret", "a", "secret"])
    np.testing.assert_array_equal(found, VECTORS[[2, 0, 2]])
    assert found.dtype == np.float32


def test_texts_without_a_vector_are_counted_and_not_shown() -> None:
    embedder = PrecomputedEmbedder.from_vectors(TEXTS, VECTORS, model="toy")
    with pytest.raises(InvalidInputError, match="row 1 has no vector; it is the first of 2 such") as caught:
        embedder.embed(["a", "hidden", "b", "private"])
    assert "hidden" not in str(caught.value)


def test_neither_texts_nor_vectors_show() -> None:
    shown = repr(PrecomputedEmbedder.from_vectors(TEXTS, VECTORS, model="toy"))
    assert "secret" not in shown
    assert "0.8" not in shown


def test_two_files_of_one_model_have_one_fingerprint() -> None:
    first = PrecomputedEmbedder.from_vectors(["a"], VECTORS[:1], model="toy", revision="2")
    second = PrecomputedEmbedder.from_vectors(["b"], VECTORS[1:2], model="toy", revision="2")
    assert first.fingerprint == second.fingerprint
    assert (first.fingerprint.dimensions, first.fingerprint.normalized) == (2, True)


def test_vectors_of_any_length_are_not_called_normalized() -> None:
    assert not PrecomputedEmbedder.from_vectors(["a"], 2 * VECTORS[:1], model="toy").fingerprint.normalized


def test_what_comes_back_can_be_changed_without_changing_the_embedder() -> None:
    embedder = PrecomputedEmbedder.from_vectors(TEXTS, VECTORS, model="toy")
    embedder.embed(["a"])[0, 0] = 7
    np.testing.assert_array_equal(embedder.embed(["a"]), VECTORS[:1])


def test_a_text_that_comes_twice_needs_one_vector() -> None:
    nearly = VECTORS[[0, 0]] + np.array([[0.0], [1e-4]], dtype=np.float32)
    assert PrecomputedEmbedder.from_vectors(["a", "a"], nearly, model="toy").embed(["a"])[0, 0] == 1
    with pytest.raises(InvalidInputError, match="rows 0 and 2 hold the same text"):
        PrecomputedEmbedder.from_vectors(["a", "b", "a"], VECTORS, model="toy")


@pytest.mark.parametrize(
    ("texts", "vectors", "model", "message"),
    [
        (["a"], VECTORS, "toy", "one vector per text, got 3 for 1 texts"),
        (TEXTS, VECTORS, "", "model"),
        ([], np.empty((0, 2)), "toy", "at least one text"),
        (["a"], [[np.nan, 1.0]], "toy", "NaN"),
        (["a"], [1.0], "toy", "two dimensions"),
    ],
)
def test_what_does_not_fit_is_refused(texts: list[str], vectors: Any, model: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        PrecomputedEmbedder.from_vectors(texts, vectors, model=model)


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.float32()),
        pa.list_(pa.float64()),
        pa.list_(pa.float16()),
        pa.large_list(pa.float32()),
        pa.list_(pa.float32(), 2),
    ],
    ids=str,
)
def test_a_parquet_file_may_hold_any_kind_of_list(tmp_path: Path, kind: Any) -> None:
    path = _write(tmp_path / "v.parquet", kind=kind)
    found = PrecomputedEmbedder.from_file(path, model="toy").embed(TEXTS)
    np.testing.assert_allclose(found, VECTORS, atol=1e-3)


def test_a_file_of_several_chunks_is_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    texts = [f"text {number}" for number in range(10)]
    vectors = np.arange(1.0, 21.0, dtype=np.float32).reshape(10, 2)
    table = pa.table({"text": texts, "vector": vectors.tolist()})
    parquet.write_table(table, path, row_group_size=3)
    np.testing.assert_array_equal(PrecomputedEmbedder.from_file(path, model="toy").embed(texts), vectors)


def test_columns_can_be_chosen_and_a_missing_one_is_named(tmp_path: Path) -> None:
    path = _write(tmp_path / "v.parquet")
    with pytest.raises(UnknownNameError, match=r"column of v\.parquet 'texts'; did you mean 'text'"):
        PrecomputedEmbedder.from_file(path, model="toy", text_column="texts")


@pytest.mark.parametrize(
    ("vectors", "kind", "message"),
    [
        ([[1.0], [1.0, 2.0], [3.0]], None, r"lists of one length, got \[1, 2\]"),
        ([[1.0], None, [3.0]], None, "must not hold nulls"),
        ([[1.0], [None], [3.0]], None, "must not hold nulls"),
        ([[], [], []], None, "at least one dimension"),
        ([1.0, 2.0, 3.0], pa.float32(), "lists of numbers, got float"),
        ([["x"], ["y"], ["z"]], pa.list_(pa.string()), "must be numbers"),
    ],
)
def test_columns_that_are_no_vectors_are_refused(tmp_path: Path, vectors: Any, kind: Any, message: str) -> None:
    path = _write(tmp_path / "v.parquet", vectors=vectors, kind=kind)
    with pytest.raises(InvalidInputError, match=message):
        PrecomputedEmbedder.from_file(path, model="toy")


def test_a_missing_text_is_named_by_its_row(tmp_path: Path) -> None:
    path = _write(tmp_path / "v.parquet", texts=["a", None, "c"])
    with pytest.raises(InvalidInputError, match="row 1 must be a string"):
        PrecomputedEmbedder.from_file(path, model="toy")


def test_a_file_that_is_not_there_or_no_parquet_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"no file .*missing\.parquet"):
        PrecomputedEmbedder.from_file(tmp_path / "missing.parquet", model="toy")
    (tmp_path / "v.parquet").write_text("text,vector\n")
    with pytest.raises(ArtifactError, match=r"v\.parquet cannot be read as Parquet"):
        PrecomputedEmbedder.from_file(tmp_path / "v.parquet", model="toy")


def test_specs_name_the_file_and_the_model(tmp_path: Path) -> None:
    path = _write(tmp_path / "me@home.parquet")
    assert from_spec(f"{path}@toy").fingerprint.model == "toy"
    found = from_spec(f"{path}@acme/toy@v2").fingerprint
    assert (found.model, found.revision) == ("acme/toy", "v2")


def test_a_spec_without_a_model_says_how_to_name_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"precomputed:FILE\.parquet@MODEL"):
        from_spec(str(_write(tmp_path / "v.parquet")))
