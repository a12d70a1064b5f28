from __future__ import annotations

import numpy as np
import pytest

from support.veils import unit_vectors
from vecveil.core.errors import InvalidInputError
from vecveil.migrate import Batch
from vecveil.migrate.store import stack_vectors


def test_a_batch_without_some_rows_keeps_the_order_of_the_others() -> None:
    vectors = unit_vectors(4)
    batch = Batch(ids=["a", 1, "c", 3], vectors=vectors, payload=[{"n": row} for row in range(4)])
    rest = batch.without({"a", "c", "1"})
    assert (list(rest.ids), list(rest.payload), len(rest)) == ([1, 3], [{"n": 1}, {"n": 3}], 2)
    assert np.array_equal(rest.vectors, vectors[[1, 3]])
    assert len(batch.without({*batch.ids})) == 0


def test_a_batch_has_one_vector_and_one_payload_for_each_id() -> None:
    with pytest.raises(InvalidInputError, match="got 3 and 2 for 2"):
        Batch(ids=["a", "b"], vectors=unit_vectors(3), payload=[{}, {}])


def test_vectors_become_one_array_of_single_precision() -> None:
    stacked = stack_vectors([[1.0, 2.0], np.array([3, 4])], first_row=0)
    assert (stacked.dtype, stacked.tolist()) == (np.float32, [[1, 2], [3, 4]])


def test_a_row_without_a_vector_is_named_and_vectors_of_two_lengths_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="row 101 has no vector"):
        stack_vectors([[1.0], None], first_row=100)
    with pytest.raises(InvalidInputError, match="different numbers of dimensions"):
        stack_vectors([[1.0], [1.0, 2.0]], first_row=0)
