from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.utility.queries import Queries

TEXTS = tuple(str(angle) for angle in range(0, 180, 5))


class Angles:
    """Texts are angles in degrees; releases are turned by some degrees more."""

    def __init__(self, turned: float = 0.0) -> None:
        self.turned = turned

    def embed_clean(self, texts: Sequence[str]) -> Embeddings:
        radians = np.deg2rad([float(text) for text in texts])
        return np.stack([np.cos(radians), np.sin(radians)], axis=1)

    def embed_released(self, texts: Sequence[str]) -> Embeddings:
        return self.embed_clean([str(float(text) + self.turned) for text in texts])


TASK = Queries(texts=TEXTS, queries=("40", "90"), hits=3, rerank=9)


def test_nothing_is_lost_without_a_defense() -> None:
    found = TASK.score(Angles())
    assert found.main == "similarity@3"
    assert list(found.scores.values()) == pytest.approx([1.0] * 5)
    assert found.cases == 2


def test_overlap_counts_the_very_same_texts_and_similarity_how_near_the_others_are() -> None:
    scores = TASK.score(Angles(5.0)).scores
    assert scores["overlap@3"] == pytest.approx(2 / 3)
    assert scores["first"] == 0.0
    assert 0.95 < scores["similarity@3"] < 1.0


def test_reranking_brings_the_right_ones_back_while_they_are_among_the_candidates() -> None:
    scores = TASK.score(Angles(15.0)).scores
    assert scores["overlap@3"] == 0.0
    assert scores["overlap@3_rerank9"] == pytest.approx(1.0)
    assert scores["similarity@3_rerank9"] == pytest.approx(1.0)


def test_similarity_of_a_search_that_finds_the_farthest_is_below_zero() -> None:
    assert TASK.score(Angles(180.0)).scores["similarity@3"] < 0


@pytest.mark.parametrize(
    ("settings", "problem"),
    [({"queries": ()}, "a query at least, got none"), ({"hits": 36}, "36 hits need more texts than that, got 36")],
)
def test_a_task_that_can_not_be_is_refused(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        Queries(**{"texts": TEXTS, "queries": ("1",), **settings})  # type: ignore[arg-type]
