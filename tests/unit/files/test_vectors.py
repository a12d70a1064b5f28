from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.veils import unit_vectors
from vecveil.core.errors import InvalidInputError
from vecveil.files.vectors import holds_annotations, is_vector_type, read_vectors, to_vector_column


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vectors_survive_the_way_to_arrow_and_back(dtype: str) -> None:
    vectors = unit_vectors(4, dtype=dtype)
    returned = read_vectors(to_vector_column(vectors))
    assert returned.dtype == vectors.dtype
    np.testing.assert_array_equal(returned, vectors)


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.float32(), 2)])
def test_every_kind_of_list_is_read_also_in_slices(kind: Any) -> None:
    column = pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], kind)
    np.testing.assert_array_equal(read_vectors(column.slice(1)), [[3.0, 4.0], [5.0, 6.0]])


def test_vectors_of_two_lengths_are_refused_by_row() -> None:
    with pytest.raises(InvalidInputError, match="must have 2 dimensions, got 1 in row 12"):
        read_vectors(pa.array([[1.0, 2.0], [1.0, 2.0], [3.0]]), first_row=10)


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.list_(pa.float64(), 2)])
def test_a_missing_vector_is_refused_by_row(kind: Any) -> None:
    with pytest.raises(InvalidInputError, match="no vector in row 11"):
        read_vectors(pa.array([[1.0, 2.0], None], kind), first_row=10)


def test_a_missing_number_becomes_nan() -> None:
    assert np.isnan(read_vectors(pa.array([[1.0, None]]))[0, 1])


@pytest.mark.parametrize("column", [pa.array(["x"]), pa.array([[1, 2]]), pa.array([1.0])])
def test_what_is_no_vector_is_refused_with_its_type(column: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"got {column.type}"):
        read_vectors(column)


def test_types_tell_vectors_and_annotations_apart() -> None:
    spans = pa.list_(pa.struct({"start": pa.int64(), "end": pa.int64(), "label": pa.string(), "note": pa.string()}))
    assert holds_annotations(spans)
    assert not is_vector_type(spans)
    assert is_vector_type(pa.list_(pa.float16()))
    assert not holds_annotations(pa.list_(pa.struct({"start": pa.int64(), "end": pa.int64()})))
    assert not is_vector_type(pa.list_(pa.string()))
