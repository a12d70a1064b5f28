from __future__ import annotations

import numpy as np
import pytest

from vecveil.utility import ranking
from vecveil.utility.ranking import NONE, nearest

RNG = np.random.default_rng(0)
QUERIES = RNG.standard_normal((7, 5))
DOCUMENTS = RNG.standard_normal((60, 5)) * RNG.uniform(0.1, 9, (60, 1))


def _cosines() -> np.ndarray:
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (QUERIES, DOCUMENTS)]
    return np.asarray(units[0] @ units[1].T)


def test_the_nearest_come_first() -> None:
    rows, similarities = nearest(QUERIES, DOCUMENTS, 4)
    np.testing.assert_array_equal(rows, np.argsort(-_cosines(), axis=1)[:, :4])
    lengths = np.linalg.norm(QUERIES, axis=1, keepdims=True)
    np.testing.assert_allclose(similarities / lengths, np.sort(_cosines(), axis=1)[:, ::-1][:, :4])


@pytest.mark.parametrize("block", [1, 7, 59, 60])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = nearest(QUERIES, DOCUMENTS, 9)
    monkeypatch.setattr(ranking, "QUERIES", 2)
    monkeypatch.setattr(ranking, "DOCUMENTS", block)
    parts = nearest(QUERIES, DOCUMENTS, 9)
    np.testing.assert_array_equal(parts[0], whole[0])
    np.testing.assert_allclose(parts[1], whole[1])


def test_a_query_does_not_find_itself() -> None:
    own = np.array([3, NONE, 59])
    rows, similarities = nearest(DOCUMENTS[[3, 4, 59]], DOCUMENTS, 60, own=own)
    assert rows[0][-1] == 3
    assert rows[1][0] == 4
    assert rows[2][-1] == 59
    assert np.isneginf(similarities[[0, 2], -1]).all()
    assert np.isfinite(similarities[1]).all()


def test_fewer_documents_than_asked_for_are_all_found() -> None:
    rows, _ = nearest(QUERIES, DOCUMENTS[:3], 10)
    assert rows.shape == (7, 3)
