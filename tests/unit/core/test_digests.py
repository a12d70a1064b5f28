from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from vecveil.core.digests import array_digest, file_digest, json_digest, row_digests, text_digest
from vecveil.core.errors import InvalidInputError


def test_order_of_keys_does_not_change_a_digest() -> None:
    assert json_digest({"a": 1, "b": 2}) == json_digest({"b": 2, "a": 1})
    assert json_digest({"a": 1}) != json_digest({"a": 2})


def test_shape_and_type_are_part_of_an_array() -> None:
    values = np.arange(6.0)
    digests = {array_digest(values), array_digest(values.reshape(2, 3)), array_digest(values.astype(np.float32))}
    assert len(digests) == 3


def test_memory_layout_is_not_part_of_an_array() -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert array_digest(values) == array_digest(np.asfortranarray(values))


def test_a_text_digest_takes_any_string() -> None:
    assert len(text_digest("naïve \ud800")) == 32


def test_a_file_digest_is_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").write_bytes(b"x" * 3_000_000)
    assert file_digest(tmp_path / "a") == file_digest(tmp_path / "b")


@pytest.mark.parametrize("rows", [0, 1, 6, 7, 40])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_have_the_library_s_digests_whether_few_or_many(rows: int, kind: type) -> None:
    values = np.random.default_rng(0).standard_normal((rows, 21)).astype(kind)
    digests = np.empty((rows, 32), dtype=np.uint8)
    row_digests(values, digests)
    assert [one.tobytes() for one in digests] == [hashlib.blake2s(row.tobytes()).digest() for row in values]


@pytest.mark.parametrize("rows", [3, 40])
def test_digests_that_have_no_room_are_refused(rows: int) -> None:
    with pytest.raises(InvalidInputError, match=r"digests of \d+ rows don't fit into uint8 of shape \(2, 32\)"):
        row_digests(np.ones((rows, 4)), np.empty((2, 32), dtype=np.uint8))
    with pytest.raises(InvalidInputError, match="don't fit into float32 of shape"):
        row_digests(np.ones((rows, 4)), np.empty((rows, 32), dtype=np.float32))
