from __future__ import annotations

import numpy as np
import pytest
from support.tasks import TEXTS

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.testing.tasks import WordEncoder
from vecveil.utility import Neighbours, NeighboursKept

CLEAN = np.random.default_rng(0).standard_normal((300, 16))


def test_unchanged_vectors_keep_every_neighbour() -> None:
    assert NeighboursKept().score(CLEAN, CLEAN) == 1.0


def test_lengths_do_not_matter() -> None:
    lengths = np.random.default_rng(1).uniform(0.1, 9, (300, 1))
    assert NeighboursKept().score(CLEAN, CLEAN * lengths) == 1.0


def test_unrelated_vectors_keep_what_chance_leaves() -> None:
    other = np.random.default_rng(2).standard_normal((300, 16))
    assert NeighboursKept().score(CLEAN, other) == pytest.approx(10 / 299, abs=0.015)


def test_clean_queries_keep_more_than_noisy_ones() -> None:
    noisy = CLEAN + np.random.default_rng(3).standard_normal(CLEAN.shape)
    task = NeighboursKept()
    assert task.score(CLEAN, noisy, queries=CLEAN) > task.score(CLEAN, noisy) + 0.05


def test_a_row_is_not_its_own_neighbour() -> None:
    far = np.eye(4) + 0.01 * np.arange(16).reshape(4, 4)
    assert NeighboursKept(neighbours=3).score(far, far[::-1].copy()) == 1.0


def test_fewer_rows_than_neighbours_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="10 neighbours need more rows than that, got 10"):
        NeighboursKept().score(CLEAN[:10], CLEAN[:10])
    with pytest.raises(InvalidInputError, match="rows must match"):
        NeighboursKept().score(CLEAN, CLEAN[:100])


def test_the_task_counts_what_an_encoder_keeps() -> None:
    scores = Neighbours(texts=TEXTS, neighbours=5).score(WordEncoder())
    assert scores.scores == {"neighbours_kept": 1.0}
    assert (scores.main, scores.protected, scores.cases) == ("neighbours_kept", "both", len(TEXTS))


def test_one_protected_side_costs_less_than_two() -> None:
    kept = {
        side: Neighbours(texts=TEXTS, neighbours=5, protected=side).score(WordEncoder(noise=1.0)).scores
        for side in ("both", "queries", "documents")
    }
    assert kept["both"]["neighbours_kept"] < min(
        kept["queries"]["neighbours_kept"], kept["documents"]["neighbours_kept"]
    )


def test_only_so_many_texts_are_asked_for_as_queries() -> None:
    assert Neighbours(texts=TEXTS, neighbours=5, queries=7).score(WordEncoder()).cases == 7


def test_the_label_tells_what_is_not_usual() -> None:
    assert Neighbours(texts=TEXTS).label == "neighbours"
    chosen = Neighbours(texts=TEXTS, neighbours=3, protected="documents", source="notes.txt")
    assert chosen.label == "neighbours@3:notes.txt (documents protected)"


def test_no_text_is_in_what_a_task_prints() -> None:
    assert TEXTS[0] not in repr(Neighbours(texts=TEXTS))


def test_fewer_texts_than_neighbours_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="10 neighbours need more texts than that, got 4"):
        Neighbours(texts=TEXTS[:4])
    with pytest.raises(InvalidInputError, match="neighbours must be a whole number of at least 1, got 0"):
        Neighbours(texts=TEXTS, neighbours=0)
    with pytest.raises(UnknownNameError, match="unknown protected side 'document'; did you mean 'documents'"):
        Neighbours(texts=TEXTS, protected="document")
