from __future__ import annotations

import hashlib

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings
from vecveil.core.digests import Digests
from vecveil.core.errors import InvalidInputError
from vecveil.veil import records
from vecveil.veil.records import RecordBatch, id_bytes, vector_contents

VECTORS = np.random.default_rng(0).standard_normal((700, 33)).astype(np.float32)


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 256, 257, 700])
def test_a_content_is_the_digest_of_the_numbers_however_many_there_are(rows: int) -> None:
    found = vector_contents(VECTORS[:rows])
    assert list(found) == [hashlib.blake2s(row.tobytes()).digest() for row in VECTORS[:rows]]


def test_the_same_numbers_are_one_content_in_either_precision() -> None:
    assert _contents(VECTORS.astype(np.float64)) == _contents(VECTORS)


@pytest.mark.parametrize("block", [1, 5, 256])
def test_numbers_with_more_digits_are_another_content(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(records, "BLOCK_ROWS", block)
    longer = VECTORS.astype(np.float64)
    longer[::3, 5] += 1e-12
    plain, found = vector_contents(VECTORS), vector_contents(longer)
    assert [one == other for one, other in zip(plain, found, strict=True)] == [row % 3 != 0 for row in range(700)]
    assert list(found[::3]) == [hashlib.blake2s(row.tobytes()).digest() for row in longer[::3]]


def test_minus_zero_is_zero_and_huge_numbers_are_not_infinite() -> None:
    vectors = np.array([[0.0, 1.0], [-0.0, 1.0], [1e300, 1.0], [1e301, 1.0], [-0.0, 1e-320]])
    found = vector_contents(vectors)
    assert found[0] == found[1]
    assert len(set(found)) == 4
    assert found[4] == vector_contents(np.array([[0.0, 1e-320]]))[0]


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FC00000, 0x7F800000, 1])
def test_what_is_no_number_has_a_content_and_no_warning(bits: int) -> None:
    """It is refused when it is to be released."""
    odd = np.full((3, 4), bits, dtype="<u4").view("<f4")
    with np.errstate(all="raise"):
        assert len(set(vector_contents(odd))) == 1


def test_whole_numbers_beyond_single_precision_are_not_one_content() -> None:
    found = vector_contents(np.array([[16_777_216, 1], [16_777_217, 1]], dtype=np.int32))
    assert found[0] != found[1]


def test_memory_layout_and_byte_order_make_no_other_content() -> None:
    assert _contents(np.asfortranarray(VECTORS)) == _contents(VECTORS)
    assert _contents(VECTORS[::2]) == _contents(VECTORS)[::2]
    assert _contents(VECTORS.astype(">f8")) == _contents(VECTORS)


def test_digests_are_bytes_one_by_one_and_digests_in_part() -> None:
    found = vector_contents(VECTORS)
    assert found[7] == found[5:][2] == found.tobytes()[7 * 32 : 8 * 32]
    assert found[-1] == list(found)[-1]
    with pytest.raises(IndexError):
        found[len(found)]
    with pytest.raises(TypeError):
        found[[0, 1]]  # type: ignore[call-overload]


def test_digests_of_another_length_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"rows of 32 bytes, got uint8 of shape \(3, 31\)"):
        Digests(np.zeros((3, 31), np.uint8))


def test_a_content_is_never_taken_for_an_id() -> None:
    contents = vector_contents(VECTORS[:2])
    assert RecordBatch.of(contents, None).identities == [b"content " + content for content in contents]
    assert RecordBatch.of(contents, id_bytes(["a", 7])).identities == [b"sa", b"s7"]


def _contents(vectors: Embeddings) -> list[bytes]:
    return list(vector_contents(vectors))
