from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from support.corpora import toy_concept, toy_corpus, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.audit.defenses import Defense, Rewritten, Undefended
from vecveil.audit.embedding import MemoizedEmbedder
from vecveil.audit.frontier.contender import at_noise
from vecveil.audit.frontier.utility import SearchYardstick, TaskYardstick, Utility
from vecveil.audit.tasks import build_task
from vecveil.concepts.rewriting import build_rewriter
from vecveil.core.errors import InvalidInputError


@dataclass(frozen=True)
class Fixed:
    """A yardstick with one value for unprotected vectors and one for all others."""

    label: str
    undefended: float
    defended: float

    def score(self, defense: Defense, rng: np.random.Generator) -> float:
        del rng
        return self.undefended if isinstance(defense, Undefended) else self.defended


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_utility_is_the_mean_share_of_what_unprotected_vectors_have() -> None:
    utility = Utility([Fixed("a", 0.5, 0.4), Fixed("b", 0.8, 0.2)])
    assert utility.undefended == (0.5, 0.8)
    assert utility.share_kept(at_noise(made_veil(), 1.0), _rng()) == pytest.approx((0.4 / 0.5 + 0.2 / 0.8) / 2)
    assert utility.share_kept(Undefended(), _rng()) == 1.0
    assert utility.label == "a, b"


@pytest.mark.parametrize("score", [0.0, -0.2, float("nan")])
def test_a_yardstick_that_finds_no_use_in_unprotected_vectors_is_refused(score: float) -> None:
    with pytest.raises(InvalidInputError, match=r"b gives unprotected vectors .* no utility to keep a share of"):
        Utility([Fixed("a", 0.5, 0.4), Fixed("b", score, 0.2)]).share_kept(Undefended(), _rng())


def test_search_falls_with_the_noise() -> None:
    utility = Utility([SearchYardstick.from_corpus(toy_corpus())])
    kept = [utility.share_kept(at_noise(made_veil(), ratio), _rng()) for ratio in (0.1, 0.5, 2.0)]
    assert 1 > kept[0] > kept[1] > kept[2] > 0


def test_search_is_judged_apart_from_the_concept() -> None:
    # Texts from which the concept was taken find what is near without it, which is all that counts.
    corpus, embed = toy_corpus(), MemoizedEmbedder(WordEmbedder())
    removed = Rewritten.over_corpus(corpus.passages, build_rewriter("remove"), toy_concept(), embed, seed=0)
    assert Utility([SearchYardstick.from_corpus(corpus)]).share_kept(removed, _rng()) > 1


def test_a_task_is_a_yardstick_by_its_main_score() -> None:
    task = build_task("neighbors,queries=50", texts=toy_texts())
    yardstick = TaskYardstick(task=task, embed=MemoizedEmbedder(WordEmbedder()))
    assert yardstick.label == task.label
    assert yardstick.score(Undefended(), _rng()) == 1.0
    assert yardstick.score(at_noise(made_veil(), 2.0), _rng()) < 0.5
