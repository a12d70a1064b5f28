"""Facts that hold for every mechanism, where they rest on what all of them share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import FreshRows, KeyedRows, RandomRows, SeededRows, Words
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.mechanisms.mechanism import require_uniform

KEY = bytes(range(32))
STARTS = np.random.default_rng(0).integers(2**63, size=(200, 2)).astype("<u8")
VECTORS = np.random.default_rng(1).standard_normal((200, 6))

every_mechanism = pytest.mark.parametrize("name", MECHANISMS.names())


def make(name: str, *, epsilon: Any = 5.0, dimensions: int = 6) -> Mechanism:
    return MECHANISMS.load(name).for_shape(epsilon=epsilon, variances=np.ones(dimensions), axes=None, center=None)


@every_mechanism
def test_a_row_gets_the_same_noise_whatever_others_had_to_try_again(name: str) -> None:
    """Were blocks counted for all rows together, the same normals would come with another radius in another batch."""
    whole = make(name).perturb(VECTORS, KeyedRows(KEY, STARTS))
    for row in range(len(VECTORS)):
        alone = make(name).perturb(VECTORS[row : row + 1], KeyedRows(KEY, STARTS[row : row + 1]))
        np.testing.assert_allclose(alone[0], whole[row], rtol=1e-13, atol=1e-14)


class WatchedRows(KeyedRows):
    """Rows that write down every block that they return."""

    def __init__(self, key: bytes, starts: Words) -> None:
        super().__init__(key, starts)
        self.seen: list[bytes] = []

    def words(self, count: int) -> Words:
        # A block whose second half is not asked for is used up all the same.
        whole = super().words(count + count % 2)
        self.seen += [block.tobytes() for block in whole.reshape(-1, 2)]
        return whole[:, :count]


@every_mechanism
def test_no_block_is_used_twice(name: str) -> None:
    """A row that tries again must not get the numbers that it was refused with, nor those of its normals."""
    rows = WatchedRows(KEY, np.random.default_rng(2).integers(2**63, size=(3000, 2)).astype("<u8"))
    make(name).perturb(np.ones((3000, 6)), rows)
    assert len(rows.seen) > 3000 * (3 + 2)
    assert len(set(rows.seen)) == len(rows.seen)


@every_mechanism
@pytest.mark.parametrize(("vectors", "rows"), [(20, 1), (1, 20), (3, 2), (0, 1), (1, 0)])
def test_every_vector_needs_random_numbers_of_its_own(name: str, vectors: int, rows: int) -> None:
    """One row's noise on many vectors would release their differences in clear."""
    random: list[RandomRows] = [
        FreshRows(rows),
        KeyedRows(KEY, STARTS[:rows]),
        SeededRows(np.random.default_rng(0), rows),
    ]
    for source in random:
        with pytest.raises(InvalidInputError, match=f"got {rows} rows of them for {vectors} vectors"):
            make(name).perturb(np.ones((vectors, 6)), source)


@every_mechanism
@pytest.mark.parametrize("dimensions", [5, 8])
def test_vectors_of_another_length_are_refused(name: str, dimensions: int) -> None:
    with pytest.raises(InvalidInputError, match=f"must have 6 dimensions, got {dimensions}"):
        make(name).perturb(np.ones((3, dimensions)), FreshRows(3))


@every_mechanism
@pytest.mark.parametrize(
    "kind", [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32, np.int64, int]
)
def test_a_budget_of_any_kind_of_number_gives_the_same_noise(name: str, kind: type) -> None:
    """A square of 120 does not fit into a byte: that would be other noise, or none."""
    plain, other = make(name, epsilon=120.0), make(name, epsilon=kind(120))
    assert type(other.epsilon) is float
    found = [mechanism.perturb(VECTORS, KeyedRows(KEY, STARTS)) for mechanism in (plain, other)]
    np.testing.assert_array_equal(*found)


@every_mechanism
@pytest.mark.parametrize("dimensions", [2, 3, 7, 8])
def test_even_and_odd_numbers_of_dimensions_have_noise(name: str, dimensions: int) -> None:
    vectors = np.ones((3, dimensions), dtype=np.float32)
    released = make(name, dimensions=dimensions).perturb(vectors, FreshRows(3))
    assert released.shape == (3, dimensions)
    assert released.dtype == np.float64
    assert (released != vectors).all()


def test_only_uniform_variances_count_as_uniform() -> None:
    assert require_uniform("laplace", np.ones(4)) == 4
    with pytest.raises(InvalidInputError, match=r"variances from 0\.5 to 1; use the mahalanobis mechanism"):
        require_uniform("laplace", np.array([1.0, 0.5]))
