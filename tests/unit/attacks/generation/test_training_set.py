from __future__ import annotations

import numpy as np
import pytest

from vecveil.attacks.generation.tokenizer import train_tokenizer
from vecveil.attacks.generation.training_set import TokenRows, bucket_batches, sort_batches, tokenize
from vecveil.core.errors import VecveilWarning

LENGTHS = np.random.default_rng(0).integers(1, 40, size=1000)


def test_a_block_is_padded_to_its_longest_row() -> None:
    rows = TokenRows([[5, 6, 7], [8], [9, 10]], padding=0)
    pieces, real = rows.block(np.array([2, 1]))
    assert pieces.tolist() == [[9, 10], [8, 0]]
    assert real.tolist() == [[True, True], [True, False]]


def test_every_epoch_holds_every_row_once_in_another_order() -> None:
    batches = bucket_batches(LENGTHS, 16, np.random.default_rng(0))
    first, second = (np.concatenate(batches(epoch)) for epoch in (0, 1))
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(1000))
    assert first.tolist() != second.tolist()
    assert len(batches(0)) == len(batches(1))


def test_an_epoch_is_the_same_whenever_it_is_drawn() -> None:
    batches = bucket_batches(LENGTHS, 16, np.random.default_rng(0))
    assert all((one == other).all() for one, other in zip(batches(3), batches(3), strict=True))


def test_batches_are_of_like_length() -> None:
    def padding(batches: list[np.ndarray]) -> int:
        return sum(int(LENGTHS[rows].max() * rows.size - LENGTHS[rows].sum()) for rows in batches)

    mixed = np.array_split(np.arange(1000), 63)
    assert padding(list(bucket_batches(LENGTHS, 16, np.random.default_rng(0))(0))) < 0.1 * padding(mixed)


def test_rows_go_from_short_to_long() -> None:
    batches = sort_batches(LENGTHS, 64)
    assert sorted(np.concatenate(batches).tolist()) == list(range(1000))
    assert LENGTHS[batches[0]].max() <= LENGTHS[batches[-1]].min()


def test_a_few_cut_texts_are_no_reason_to_warn() -> None:
    texts = ["rome"] * 99 + ["rome " * 50]
    tokenizer = train_tokenizer(texts, vocabulary=300)
    assert tokenize(texts, tokenizer, longest=10, warn=True).lengths.max() == 10
    with pytest.warns(VecveilWarning, match="50 of 100 texts have more than 9 pieces"):
        tokenize(texts[:50] + texts[-1:] * 50, tokenizer, longest=10, warn=True)
