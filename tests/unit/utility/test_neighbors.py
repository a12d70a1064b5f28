from __future__ import annotations

import numpy as np
import pytest

from support.tasks import TEXTS
from vecveil.core.errors import InvalidInputError
from vecveil.testing.tasks import WordEncoder
from vecveil.utility import Neighbors, neighbors
from vecveil.utility.neighbors import NONE, find_nearest, shares_kept

CLEAN = np.random.default_rng(0).standard_normal((300, 16))

RNG = np.random.default_rng(0)
QUERIES = RNG.standard_normal((7, 5))
DOCUMENTS = RNG.standard_normal((60, 5)) * RNG.uniform(0.1, 9, (60, 1))


def test_unchanged_vectors_keep_every_neighbor() -> None:
    assert shares_kept(CLEAN, CLEAN, CLEAN).mean() == 1.0


def test_lengths_do_not_matter() -> None:
    lengths = np.random.default_rng(1).uniform(0.1, 9, (300, 1))
    assert shares_kept(CLEAN, CLEAN * lengths, CLEAN * lengths).mean() == 1.0


def test_unrelated_vectors_keep_what_chance_leaves() -> None:
    other = np.random.default_rng(2).standard_normal((300, 16))
    assert shares_kept(CLEAN, other, other).mean() == pytest.approx(10 / 299, abs=0.015)


def test_clean_queries_keep_more_than_noisy_ones() -> None:
    noisy = CLEAN + np.random.default_rng(3).standard_normal(CLEAN.shape)
    assert shares_kept(CLEAN, noisy, CLEAN).mean() > shares_kept(CLEAN, noisy, noisy).mean() + 0.05


def test_a_row_is_not_its_own_neighbor() -> None:
    far = np.eye(4) + 0.01 * np.arange(16).reshape(4, 4)
    back = far[::-1].copy()
    assert shares_kept(far, back, back, neighbors=3).mean() == 1.0


def test_fewer_rows_than_neighbors_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="10 neighbors need more rows than that, got 10"):
        shares_kept(CLEAN[:10], CLEAN[:10], CLEAN[:10]).mean()
    with pytest.raises(InvalidInputError, match="rows must match"):
        shares_kept(CLEAN, CLEAN[:100], CLEAN[:100]).mean()


def test_the_task_counts_what_an_encoder_keeps() -> None:
    scores = Neighbors(texts=TEXTS, neighbors=5).score(WordEncoder())
    assert scores.scores == {"neighbors_kept": 1.0}
    assert (scores.main, scores.protected, scores.cases) == ("neighbors_kept", "both", len(TEXTS))


def test_one_protected_side_costs_less_than_two() -> None:
    kept = {
        side: Neighbors(texts=TEXTS, neighbors=5, protected=side).score(WordEncoder(noise=1.0)).scores
        for side in ("both", "queries", "documents")
    }
    assert kept["both"]["neighbors_kept"] < min(kept["queries"]["neighbors_kept"], kept["documents"]["neighbors_kept"])


def test_only_so_many_texts_are_asked_for_as_queries() -> None:
    assert Neighbors(texts=TEXTS, neighbors=5, queries=7).score(WordEncoder()).cases == 7


def test_the_label_tells_what_is_not_usual() -> None:
    assert Neighbors(texts=TEXTS).label == "neighbors"
    chosen = Neighbors(texts=TEXTS, neighbors=3, protected="documents", source="notes.txt")
    assert chosen.label == "neighbors@3:notes.txt (documents protected)"


def test_no_text_is_in_what_a_task_prints() -> None:
    assert TEXTS[0] not in repr(Neighbors(texts=TEXTS))


def test_fewer_texts_than_neighbors_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="10 neighbors need more texts than that, got 4"):
        Neighbors(texts=TEXTS[:4])
    with pytest.raises(InvalidInputError, match="neighbors must be a whole number of at least 1, got 0"):
        Neighbors(texts=TEXTS, neighbors=0)


def _cosines() -> np.ndarray:
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (QUERIES, DOCUMENTS)]
    return np.asarray(units[0] @ units[1].T)


def test_the_nearest_come_first() -> None:
    rows, similarities = find_nearest(QUERIES, DOCUMENTS, 4)
    np.testing.assert_array_equal(rows, np.argsort(-_cosines(), axis=1)[:, :4])
    lengths = np.linalg.norm(QUERIES, axis=1, keepdims=True)
    np.testing.assert_allclose(similarities / lengths, np.sort(_cosines(), axis=1)[:, ::-1][:, :4])


@pytest.mark.parametrize("block", [1, 7, 59, 60])
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = find_nearest(QUERIES, DOCUMENTS, 9)
    monkeypatch.setattr(neighbors, "QUERIES", 2)
    monkeypatch.setattr(neighbors, "DOCUMENTS", block)
    parts = find_nearest(QUERIES, DOCUMENTS, 9)
    np.testing.assert_array_equal(parts[0], whole[0])
    np.testing.assert_allclose(parts[1], whole[1])


def test_a_query_does_not_find_itself() -> None:
    own = np.array([3, NONE, 59])
    rows, similarities = find_nearest(DOCUMENTS[[3, 4, 59]], DOCUMENTS, 60, own=own)
    assert rows[0][-1] == 3
    assert rows[1][0] == 4
    assert rows[2][-1] == 59
    assert np.isneginf(similarities[[0, 2], -1]).all()
    assert np.isfinite(similarities[1]).all()


def test_fewer_documents_than_asked_for_are_all_found() -> None:
    rows, _ = find_nearest(QUERIES, DOCUMENTS[:3], 10)
    assert rows.shape == (7, 3)
