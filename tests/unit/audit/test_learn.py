from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.corpora import ILLNESSES, TOY_TASK, toy_concept, toy_texts
from support.embedders import WordEmbedder
from vecveil.audit import Target, learn
from vecveil.audit import learn as learning
from vecveil.audit.embedding import MemoizedConcept
from vecveil.audit.frontier import Workbench
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.substitutions.plain import Keep, Remove
from vecveil.substitutions.randomize import Randomize
from vecveil.veil import Veil

TASK = {"tasks": (TOY_TASK,)}


def _learn(texts: int = 200, **settings: Any) -> Veil:
    return learn(toy_concept(), toy_texts(texts), embedder=WordEmbedder(), public=True, **{**TASK, **settings})


def _noise_ratio(veil: Veil) -> float:
    assert veil.epsilon is not None
    return veil.mechanism_at(veil.epsilon).noise_ratio(veil.typical.signal)


def test_a_target_becomes_directions_and_a_budget_in_the_veil() -> None:
    veil = _learn(keep_utility=0.25)
    assert 0.1 <= _noise_ratio(veil) < 8
    assert veil.shape.released < veil.shape.dimensions
    assert veil.substitution == Remove()
    assert veil.concept == toy_concept()
    assert veil.protect(["a calm goutosis day"], embedder=WordEmbedder()).shape == (1, 8)


def test_the_veil_says_what_it_was_measured_to_come_to() -> None:
    measured = _learn(keep_utility=0.25).provenance.measured
    assert measured.startswith("The strongest attack reads ")
    assert "redaction alone leaves" in measured
    assert not any(word in measured for word in ILLNESSES)


def test_the_sheet_has_the_best_guess_with_its_interval() -> None:
    veil = _learn(keep_utility=0.25)
    guess = veil.guarantee().guess
    assert guess is not None
    assert guess.low <= guess.right <= guess.high
    assert guess.right == pytest.approx(guess.chance, abs=0.2)
    assert veil.guarantee(noise_ratio=3.0).guess is None


def test_how_many_candidates_keep_the_level_is_said() -> None:
    settings = {"keep_utility": 0.5, "shape": "uniform", "substitution": "keep", "tasks": ("known-item,words=3",)}
    assert re.search(
        r" With \d+ candidates reranked, 50 % of all searches are kept\.$", _learn(**settings).provenance.measured
    )
    assert "candidates" not in _learn(**settings, candidates=40).provenance.measured


def test_the_same_texts_and_seed_give_the_same_veil() -> None:
    assert _learn(keep_utility=0.25).digest() == _learn(keep_utility=0.25).digest()


def test_more_utility_leaves_room_for_less_noise() -> None:
    much, little = (_learn(keep_utility=level, shape="uniform", substitution="keep") for level in (0.8, 0.5))
    assert _noise_ratio(much) < _noise_ratio(little)


def test_a_most_of_leakage_is_met_with_as_much_utility_as_it_leaves() -> None:
    veil = _learn(max_leakage=0.75, shape="uniform", substitution="keep")
    assert _noise_ratio(veil) > _noise_ratio(_learn(keep_utility=0.85, shape="uniform", substitution="keep"))


def test_a_most_of_guessing_takes_more_noise_where_words_stay() -> None:
    free = _learn(keep_utility=0.8, shape="uniform", substitution="keep")
    limited = _learn(max_guess=0.9, shape="uniform", substitution="keep")
    assert _noise_ratio(limited) > 1.5 * _noise_ratio(free)


def test_a_most_of_guessing_is_the_law_where_words_are_randomized() -> None:
    candidates = {"ILLNESS": ILLNESSES, "CITY": ("lisbonia", "osloville", "romeburg", "parisette")}
    veil = _learn(
        max_guess=0.4, keep_utility=0.1, substitution=Randomize(epsilon=5.0, candidates=candidates), shape="uniform"
    )
    assert isinstance(veil.substitution, Randomize)
    assert veil.substitution.epsilon == pytest.approx(np.log(0.4 * 3 / 0.6))
    kept = 1 / (1 + 3 * np.exp(-veil.substitution.epsilon))
    assert kept == pytest.approx(0.4)


def test_no_guess_can_be_worse_than_blind() -> None:
    candidates = {"ILLNESS": ILLNESSES, "CITY": ("lisbonia", "osloville")}
    with pytest.raises(InvalidInputError, match=r"among 2 candidates a guess is right in 50\.0 % of cases"):
        _learn(max_guess=0.4, substitution=Randomize(candidates=candidates))


def test_what_no_veil_keeps_is_refused_with_what_redaction_keeps() -> None:
    with pytest.raises(InvalidInputError, match=r"no veil keeps 99 % of neighbors.*; redaction alone keeps \d+ %"):
        _learn(keep_utility=0.99)
    with pytest.raises(InvalidInputError, match=r"of the words are read, above 1\.0 %; ask for less"):
        _learn(max_leakage=0.01, keep_utility=0.8, shape="uniform", substitution="keep")


def test_a_target_that_was_lowered_is_the_last_that_is_said() -> None:
    with pytest.warns(VecveilWarning, match="no veil keeps 95 %"):
        measured = _learn().provenance.measured
    kept = re.search(
        r"No veil keeps 95 % of what search was measured by: this one was learned to keep (\d+) %\.$", measured
    )
    assert kept is not None
    assert int(kept[1]) < 95
    assert "No veil keeps" not in _learn(keep_utility=0.25).provenance.measured


def test_a_budget_is_taken_as_it_is() -> None:
    veil = _learn(noise_ratio=0.7)
    assert _noise_ratio(veil) == pytest.approx(0.7)
    assert veil.provenance.measured == ""
    with pytest.raises(InvalidInputError, match="name a target or a budget, got both"):
        _learn(noise_ratio=0.7, keep_utility=0.9)


@pytest.mark.filterwarnings("ignore:no gate of the mask can close")
@pytest.mark.parametrize(("preset", "shape"), [("sparse", "hard-concrete"), ("sparse-wb", "integrated-gradients")])
def test_the_papers_methods_keep_words_and_no_budget(preset: str, shape: str) -> None:
    quick = {"epochs": 2} if preset == "sparse" else {"attack_settings": {"epochs": 2, "hidden": (8,)}}
    veil = _learn(preset=preset, settings=quick)
    assert veil.provenance.learner["name"] == shape
    assert veil.substitution == Keep()
    assert veil.epsilon is None


def test_too_few_texts_to_measure_get_noise_that_nobody_measured() -> None:
    with pytest.warns(VecveilWarning, match="60 texts with the concept are too few to measure an operating point"):
        veil = _learn(80)
    assert _noise_ratio(veil) == pytest.approx(0.3)
    assert veil.provenance.measured == ""


def test_what_learning_would_refuse_is_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workbench, "attack", None)
    with pytest.raises(InvalidInputError, match="drop_empty"):
        learn(toy_concept(), [*toy_texts(200), ILLNESSES[0]], embedder=WordEmbedder(), **TASK)


def test_each_text_is_searched_and_embedded_once() -> None:
    class Counting(MemoizedConcept):
        asked: list[str] = []  # noqa: RUF012

        def search(self, passages: Any) -> Any:
            self.asked.extend(passage.text for passage in passages)
            return self.concept.search(passages)

    concept, embedder = Counting(toy_concept()), WordEmbedder()
    learn(concept, toy_texts(200), embedder=embedder, public=True, keep_utility=0.25, **TASK)
    assert len(embedder.asked) == len(set(embedder.asked))
    assert len(concept.asked) == len(set(concept.asked))


def test_a_large_corpus_is_measured_on_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    make = Workbench.from_texts

    def spy(concept: Any, texts: Any, **settings: Any) -> Workbench:
        seen.append(len(texts))
        return make(concept, texts, **settings)

    monkeypatch.setattr(Workbench, "from_texts", spy)
    monkeypatch.setattr(learning.__module__ and __import__("vecveil.audit.learn", fromlist=["x"]), "MOST_TEXTS", 240)
    _learn(400, keep_utility=0.2)
    assert seen == [240]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep_utility": None}, "name a target"),
        ({"keep_utility": 1.9}, "keep_utility"),
        ({"max_leakage": -0.1}, "max_leakage"),
        ({"max_guess": 0.0}, "max_guess"),
        ({"candidates": -1}, "candidates"),
    ],
)
def test_a_wrong_target_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Target(**settings)


def test_levels_go_down_from_the_highest_to_the_least_that_is_kept() -> None:
    assert Target(keep_utility=0.9).levels == (0.9,)
    assert Target(keep_utility=0.9, max_leakage=0.2).levels == (0.99, 0.97, 0.95, 0.9)
    assert Target(keep_utility=None, max_guess=0.2).levels[-1] == 0.5


def test_reranked_candidates_leave_room_for_more_noise() -> None:
    settings = {"keep_utility": 0.8, "shape": "uniform", "substitution": "keep", "tasks": ("known-item,words=3",)}
    plain, reranked = _learn(**settings), _learn(**settings, candidates=40)
    assert _noise_ratio(reranked) > _noise_ratio(plain)
    assert replace(plain.provenance, measured="") != plain.provenance
