from __future__ import annotations

import hashlib

import numpy as np
import pytest

from vecveil.core.blake2s import fill_digests

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("rows", [0, 1, 15, 16, 17, 33])
@pytest.mark.parametrize("width", [0, 1, 15, 16, 17, 31, 32, 100, 768])
def test_digests_are_those_of_the_library(rows: int, width: int) -> None:
    words = RNG.integers(0, 2**32, (rows, width), dtype=np.uint32)
    digests = np.empty((rows, 8), dtype=np.uint32)
    fill_digests(words, digests)
    assert [digest.tobytes() for digest in digests] == [hashlib.blake2s(row.tobytes()).digest() for row in words]


def test_every_word_counts() -> None:
    words = np.zeros((41, 40), dtype=np.uint32)
    words[np.arange(40), np.arange(40)] = 1
    digests = np.empty((41, 8), dtype=np.uint32)
    fill_digests(words, digests)
    assert len({digest.tobytes() for digest in digests}) == 41
