from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from support.corpora import toy_corpus, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.audit.defenses import Undefended
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.frontier.contender import at_noise
from vecveil.audit.tasks import build_task
from vecveil.audit.utility import CANDIDATES, Utility
from vecveil.core.errors import InvalidInputError
from vecveil.utility import Encoder, TaskScores
from vecveil.utility.known_item import KnownItem


@dataclass(frozen=True)
class Fixed:
    """A task with one score for unprotected vectors and one for all others."""

    label: str
    undefended: float
    defended: float

    def score(self, encoder: Encoder) -> TaskScores:
        clean, released = (embed(["a b"]) for embed in (encoder.embed_clean, encoder.embed_released))
        value = self.undefended if np.array_equal(clean, released) else self.defended
        scores = {"hits": value, "hits_unnamed": value / 2, "hits_rerank7": 2 * value}
        return TaskScores(main="hits", scores=scores, protected="documents", cases=1)


def _utility(*tasks: Fixed, **settings: str) -> Utility:
    return Utility(tasks=tasks, embed=MemoizedEmbedder(WordEmbedder()), **settings)  # type: ignore[arg-type]


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_utility_is_the_mean_share_of_what_unprotected_vectors_have() -> None:
    utility = _utility(Fixed("a", 0.5, 0.4), Fixed("b", 0.8, 0.2))
    assert [found["search"] for found in utility.undefended] == [0.5, 0.8]
    assert utility.share_kept(at_noise(made_veil(), 1.0), _rng()) == pytest.approx((0.4 / 0.5 + 0.2 / 0.8) / 2)
    assert utility.share_kept(Undefended(), _rng()) == 1.0
    assert utility.label == "a, b"


def test_the_fewest_candidates_that_keep_a_level_are_found() -> None:
    texts = tuple(toy_texts(400))
    utility = Utility(tasks=[KnownItem(texts=texts, words=3)], embed=MemoizedEmbedder(WordEmbedder()))
    defense = at_noise(made_veil(), 1.0)
    found = utility.find_candidates(defense, 0.8, seed=0)
    assert found is not None
    assert found > min(CANDIDATES)

    def kept(candidates: int) -> float:
        task = KnownItem(texts=texts, words=3, rerank=candidates)
        return replace(utility, tasks=[task], measure="reranked").share_kept(defense, _rng())

    assert kept(found) >= 0.8 > kept(CANDIDATES[CANDIDATES.index(found) - 1])
    assert _utility(Fixed("a", 0.5, 0.4)).find_candidates(defense, 0.1, seed=0) is None


@pytest.mark.parametrize(("measure", "label"), [("unnamed", "a, concept not named"), ("reranked", "a, reranked")])
def test_another_score_may_count(measure: str, label: str) -> None:
    utility = _utility(Fixed("a", 0.5, 0.4), measure=measure)
    assert utility.label == label
    assert utility.undefended[0][measure] == (0.25 if measure == "unnamed" else 1.0)  # type: ignore[index]


def test_a_task_without_that_score_counts_by_its_main_one() -> None:
    task = build_task("neighbors,queries=50", texts=toy_texts())
    utility = Utility(tasks=[task], embed=MemoizedEmbedder(WordEmbedder()), measure="unnamed")
    assert utility.undefended == ({"search": 1.0, "unnamed": 1.0, "reranked": 1.0},)


@pytest.mark.parametrize("score", [0.0, -0.2, float("nan")])
def test_a_task_that_finds_no_use_in_unprotected_vectors_is_refused(score: float) -> None:
    with pytest.raises(InvalidInputError, match=r"b gives unprotected vectors .* no utility to keep a share of"):
        _utility(Fixed("a", 0.5, 0.4), Fixed("b", score, 0.2)).share_kept(Undefended(), _rng())


def test_search_falls_with_the_noise() -> None:
    corpus = toy_corpus()
    task = build_task("known-item,words=2", texts=corpus.texts, private=corpus.spans)
    utility = Utility(tasks=[task], embed=MemoizedEmbedder(WordEmbedder()))
    kept = [utility.share_kept(at_noise(made_veil(), ratio), _rng()) for ratio in (0.1, 0.5, 2.0)]
    assert 1 > kept[0] > kept[1] > kept[2] > 0
    shares = utility.shares(at_noise(made_veil(), 0.5), _rng())
    assert set(shares) == {"search", "unnamed", "reranked"}
    assert shares["reranked"] > shares["search"]
