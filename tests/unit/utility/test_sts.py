from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from support.tasks import PAIRS
from vecveil.core.arrays import Embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.testing.tasks import WordEncoder
from vecveil.utility import Sts

FIRST, SECOND, SCORES = zip(*PAIRS, strict=True)
TASK = Sts(first=FIRST, second=SECOND, scores=SCORES)


class Angles:
    """Gives the text "30" a vector of that many degrees, whatever its length."""

    def embed_clean(self, texts: Sequence[str]) -> Embeddings:
        radians = np.deg2rad([float(text) for text in texts])
        lengths = np.arange(1, len(texts) + 1)
        return np.stack([np.cos(radians), np.sin(radians)], axis=1) * lengths[:, None]

    embed_released = embed_clean


def test_scores_are_the_correlations_of_the_cosine() -> None:
    angles = [0.0, 60.0, 90.0, 180.0]
    # The cosines are 1, 0.5, 0 and -1: in the order of the scores, but not in line with them.
    scores = Sts(first=("0",) * 4, second=tuple(map(str, angles)), scores=(5.0, 4.0, 3.0, 2.0)).score(Angles())
    assert scores.scores["spearman"] == pytest.approx(1.0)
    assert scores.scores["pearson"] == pytest.approx(np.corrcoef([1, 0.5, 0, -1], [5, 4, 3, 2])[0, 1])
    assert (scores.main, scores.cases) == ("pearson", 4)


def test_one_protected_side_costs_less_than_two() -> None:
    found = [replace(TASK, protected=side).score(WordEncoder(noise=1.5)) for side in ("both", "queries", "documents")]
    both, queries, documents = (scores.scores["pearson"] for scores in found)
    assert both < min(queries, documents)


def test_vectors_that_are_all_alike_score_nothing() -> None:
    scores = Sts(first=("10", "10", "10"), second=("40", "40", "40"), scores=(1.0, 2.0, 3.0)).score(Angles())
    assert scores.scores == {"pearson": 0.0, "spearman": 0.0}


def test_the_label_names_source_and_side() -> None:
    assert TASK.label == "sts"
    assert replace(TASK, source="sts12.parquet", protected="queries").label == "sts:sts12.parquet (queries protected)"


def test_no_text_is_in_what_a_task_prints() -> None:
    assert repr(TASK) == "Sts(protected='both', source='')"


def test_pairs_that_give_no_correlation_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="texts and scores must match, got 72, 71 and 72"):
        replace(TASK, second=SECOND[1:])
    with pytest.raises(InvalidInputError, match="pairs with different scores, got 72 with the same"):
        replace(TASK, scores=(1.0,) * len(SCORES))
    with pytest.raises(InvalidInputError, match="finite numbers, first other in row 2"):
        replace(TASK, scores=(*SCORES[:2], float("nan"), *SCORES[3:]))
