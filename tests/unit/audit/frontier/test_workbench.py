from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.corpora import QUICK, toy_concept, toy_texts, toy_workbench
from support.embedders import WordEmbedder
from vecveil.audit.defenses import Undefended
from vecveil.audit.frontier import Workbench
from vecveil.audit.frontier.contender import Contender, at_noise
from vecveil.audit.noise_search import LEAST_NOISE, MOST_NOISE
from vecveil.concepts.passage import passages
from vecveil.core.errors import UnknownNameError
from vecveil.substitutions.plain import Keep, Remove

CANONICAL, UNIFORM = Contender("canonical"), Contender("uniform")


def test_defenses_learn_nothing_from_what_attacks_are_tested_on() -> None:
    corpus = toy_workbench().corpus
    train, held_out, test = corpus.split(3)
    evidence = toy_workbench().evidence(3, Keep())
    tested = {corpus.texts[row] for row in test}
    assert evidence.corpus is not None
    assert len(evidence.corpus.vectors) == len(train) + len(held_out)
    known = {vector.tobytes() for vector in corpus.clean[[*train, *held_out]]}
    assert {vector.tobytes() for vector in evidence.corpus.vectors} == known
    assert {vector.tobytes() for vector in evidence.pairs.with_concept} <= known
    held = [text for text, tokens in zip(corpus.texts, corpus.tokens, strict=True) if tokens and text not in tested]
    assert len(evidence.pairs) == len(held)


def test_a_veil_is_learned_once_for_all_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    veil = toy_workbench().learn(CANONICAL, 2, 0)
    monkeypatch.setattr(Contender, "learn", None)
    assert toy_workbench().learn(CANONICAL, 2, 0) is veil
    with pytest.raises(TypeError):
        toy_workbench().learn(CANONICAL, 2, 1)


def test_every_number_of_directions_is_tried_that_the_words_span() -> None:
    found = {count: veil.shape.dimensions - veil.shape.released for count, veil in _members(CANONICAL)}
    assert list(found)[:3] == [1, 2, 4]
    assert found[1] == 1
    assert found[2] == 2
    assert [count for count, _ in _members(UNIFORM)] == [None]


def _members(contender: Contender) -> list[tuple[int | None, Any]]:
    return list(toy_workbench().members(contender, 0))


def test_the_noise_is_the_most_at_which_the_utility_is_kept() -> None:
    workbench, veil = toy_workbench(), toy_workbench().learn(UNIFORM, None, 0)
    noise = workbench.find_noise(0.7, veil, 0)
    assert noise is not None
    assert LEAST_NOISE < noise < MOST_NOISE
    kept = [
        workbench.utility.share_kept(at_noise(veil, ratio), np.random.default_rng(0)) for ratio in (noise, 1.05 * noise)
    ]
    assert kept[0] >= 0.7 > kept[1]


def test_more_utility_leaves_room_for_less_noise_and_all_of_it_for_none() -> None:
    veil = toy_workbench().learn(UNIFORM, None, 0)
    much, little = (toy_workbench().find_noise(level, veil, 0) for level in (0.8, 0.5))
    assert much is not None
    assert little is not None
    assert much < little
    assert toy_workbench().find_noise(1.0, veil, 0) is None


def test_an_attack_is_the_same_again_and_depends_on_its_seed() -> None:
    one, same, other = (toy_workbench().attack("nearest", Undefended(), seed) for seed in (0, 0, 1))
    assert replace(one, seconds=0.0) == replace(same, seconds=0.0)
    assert one.leakage != other.leakage


def test_the_number_of_directions_is_chosen_by_what_the_guides_read() -> None:
    choice = toy_workbench().choose(CANONICAL, 0.4, guides=("nearest",), seed=0)
    assert choice.noise_ratio is not None
    assert set(choice.tried) >= {"1", "2"}
    assert choice.tried[str(choice.directions)] == min(choice.tried.values())


def test_where_there_is_nothing_to_choose_no_guide_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workbench, "attack", None)
    choice = toy_workbench().choose(UNIFORM, 0.8, guides=(QUICK,), seed=0)
    assert choice.directions is None
    assert choice.tried == {"0": 0.0}
    assert choice.noise_ratio == toy_workbench().find_noise(0.8, toy_workbench().learn(UNIFORM, None, 0), 0)


def test_a_level_that_no_noise_keeps_has_no_choice() -> None:
    choice = toy_workbench().choose(UNIFORM, 1.0, guides=("nearest",), seed=0)
    assert (choice.noise_ratio, choice.directions, choice.tried) == (None, None, {})


def test_utility_is_search_in_the_texts_unless_tasks_are_named() -> None:
    texts = passages(toy_texts(200))
    own = Workbench.from_texts(toy_concept(), texts, embedder=WordEmbedder())
    assert own.utility.label == "known-item, concept not named"
    tasks = ("neighbors,queries=50",)
    named = Workbench.from_texts(toy_concept(), passages(toy_texts(200)), embedder=WordEmbedder(), tasks=tasks)
    assert named.utility.label == "neighbors"


def test_a_misspelled_task_is_refused_before_anything_is_embedded() -> None:
    embedder = WordEmbedder()
    with pytest.raises(UnknownNameError, match="did you mean 'sts'"):
        Workbench.from_texts(toy_concept(), passages(toy_texts(200)), embedder=embedder, tasks=("stss:a.parquet",))
    assert embedder.asked == []


def test_what_is_learned_with_words_removed_is_learned_from_such_texts() -> None:
    bench = toy_workbench()
    kept, removed = (bench.evidence(0, substitution).corpus.vectors for substitution in (Keep(), Remove()))
    assert not np.allclose(kept, removed)
    veil = bench.learn(Contender("canonical,substitution=remove"), 2, 0)
    assert veil.substitution == Remove()
    assert bench.learn(Contender("canonical"), 2, 0).substitution == Keep()


def test_blanks_behind_removed_words_are_guessed_by_chance() -> None:
    bench = toy_workbench()
    kept, removed = (
        bench.fill_blanks(bench.at_noise(bench.learn(Contender(spec), 2, 0), 0.1), 0).row
        for spec in ("canonical", "canonical,substitution=remove")
    )
    assert kept is not None
    assert removed is not None
    assert kept.right.value > 0.6
    assert removed.right.value == pytest.approx(removed.chance)


def test_what_a_blank_gives_away_counts_beside_the_strongest_guide() -> None:
    bench = toy_workbench()
    words = bench.choose(CANONICAL, 0.4, guides=("nearest",), seed=0)
    both = bench.choose(CANONICAL, 0.4, guides=("nearest", "fill-in-the-blank"), seed=0)
    assert any(both.tried[count] > words.tried[count] + 0.1 for count in words.tried)
    assert all(both.tried[count] >= words.tried[count] - 0.5 for count in words.tried)
