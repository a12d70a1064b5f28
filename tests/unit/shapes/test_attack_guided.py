from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
import torch

from vecveil.attacks import build_attack
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.errors import InvalidInputError, MissingExtraError, UnknownNameError
from vecveil.core.progress import Progress, silent
from vecveil.shapes import AttackLearner, Evidence, FittedShape, LabeledEmbeddings, build_learner
from vecveil.testing.shapes import PlantedAttack, PlantedAttacker, planted_attacker, planted_pairs

_PAIRS = planted_pairs(dimensions=20, pairs=12, moved=5)
_SMALL = {"start_directions": 2, "rounds": 3, "directions": 1}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Recorder(PlantedAttacker):
    """A planted attacker that keeps the releases that it was trained on."""

    seen: list[Embeddings] = field(default_factory=list)

    def train(self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent) -> PlantedAttack:
        self.seen.append(vectors)
        return super().train(vectors, rng, progress=progress)


class _Square(torch.nn.Module):
    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors**2


class _CurvedAttacker(PlantedAttacker):
    """An attacker that reads what no linear one does, with gradients that differ from text to text."""

    def train(self, vectors: Embeddings, rng: np.random.Generator, *, progress: Progress = silent) -> PlantedAttack:
        linear = super().train(vectors**2, rng, progress=progress)
        return replace(linear, network=torch.nn.Sequential(_Square(), linear.network))


def _fit(attacker: PlantedAttacker, seed: int = 0, **settings: Any) -> FittedShape:
    learner = build_learner("attack-guided", settings={**_SMALL, **settings})
    return learner.fit(Evidence(_PAIRS, _corpus(attacker), lambda *_: attacker), np.random.default_rng(seed))


def _corpus(attacker: PlantedAttacker) -> LabeledEmbeddings:
    return LabeledEmbeddings(vectors=attacker.vectors, words=attacker.words)


def _attacker(**choices: Any) -> PlantedAttacker:
    return planted_attacker(**{"dimensions": 20, "words": 5, "rows": 600, **choices})


def _curved() -> _CurvedAttacker:
    """Return an attacker on texts whose word makes one of two dimensions large, to either side."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((600, 20))
    told = rng.integers(2, size=600)
    vectors[np.arange(600), told] += rng.choice([-4, 4], size=600)
    words = tuple((f"word{number}",) for number in told)
    return _CurvedAttacker(vectors=vectors.astype(np.float32), words=words, held_out=tuple(range(500, 600)))


def _skewed(attacker: PlantedAttacker) -> PlantedAttacker:
    """Return the attacker on words of which one is much more frequent, and that the vectors do not tell."""
    words = np.random.default_rng(5).choice(["frequent", "rare"], p=[0.8, 0.2], size=len(attacker.words))
    return replace(attacker, words=tuple((str(word),) for word in words))


def _left_out(fitted: FittedShape) -> Matrix:
    assert fitted.shape.axes is not None
    return fitted.shape.axes[:, np.isinf(fitted.shape.variances)]


def _covered(fitted: FittedShape, dimensions: int) -> Matrix:
    """Return how much of each of the first coordinate axes is left out, 1 for all of it."""
    return np.asarray(np.linalg.norm(_left_out(fitted)[:dimensions], axis=1))


def _recall(attacker: PlantedAttacker, vectors: Embeddings) -> float:
    """Return how many of the held-out texts' words a fresh attack reads from a release."""
    attack = attacker.train(vectors, np.random.default_rng(9))
    rows = [row for row in attacker.held_out if attacker.words[row]]
    with torch.no_grad():
        best = attack.network(torch.from_numpy(np.asarray(vectors[rows], dtype=np.float32))).argmax(dim=1)
    return float(
        np.mean([attack.vocabulary[column] in attacker.words[row] for row, column in zip(rows, best, strict=True)])
    )


def _without(attacker: PlantedAttacker, fitted: FittedShape) -> Embeddings:
    """Return the vectors of the corpus as the shape releases them, but for the noise."""
    basis, center = _left_out(fitted), fitted.shape.center
    assert center is not None
    return attacker.vectors - ((attacker.vectors - center) @ basis) @ basis.T


@pytest.mark.parametrize(
    "settings",
    [
        {"start": "canonical"},
        {"start": "nothing", "rounds": 5},
        {"start": "nothing", "rounds": 1, "directions": 5},
        {"start": "nothing", "rounds": 5, "noise": 0.0},
    ],
)
def test_the_dimensions_that_tell_the_words_are_left_out(settings: dict[str, Any]) -> None:
    fitted = _fit(_attacker(), **settings)
    assert fitted.shape.released == 15
    assert fitted.facts["directions"] == 5
    covered = _covered(fitted, 20)
    assert covered[:5].min() > 0.85
    assert covered[5:].max() < 0.6


def test_a_fresh_attack_reads_less_after_than_before() -> None:
    attacker = _attacker()
    fitted = _fit(attacker)
    assert _recall(attacker, attacker.vectors) > 0.9
    assert _recall(attacker, _without(attacker, fitted)) < 0.4


def test_what_only_a_network_reads_is_left_out() -> None:
    attacker = _curved()
    fitted = _fit(attacker, start="nothing", rounds=1, directions=2, noise=0.1)
    assert _covered(fitted, 2).min() > 0.9
    assert _recall(PlantedAttacker(**vars(attacker)), attacker.vectors) < 0.65
    assert _recall(attacker, attacker.vectors) > 0.9
    assert _recall(attacker, _without(attacker, fitted)) < 0.65


def test_rounds_go_on_from_where_a_linear_start_ends() -> None:
    attacker = _curved()
    fitted = _fit(attacker, start_directions=4, rounds=1, directions=2, noise=0.1)
    # Two words of which a text holds one give one canonical direction.
    assert fitted.facts["directions"] == 3
    assert fitted.facts["recall_first"] > 0.7
    assert _covered(fitted, 2).min() > 0.9


def test_of_many_texts_a_sample_guides() -> None:
    fitted = _fit(_attacker(rows=6000), start="nothing", rounds=1, directions=5)
    assert _covered(fitted, 20)[:5].min() > 0.95


def test_the_released_is_the_center_where_left_out_and_noisy_elsewhere() -> None:
    attacker = _Recorder(**vars(_attacker()))
    fitted = _fit(attacker, rounds=2, noise=0.5)
    first, second = attacker.seen
    center = attacker.vectors.mean(axis=0, dtype=np.float64)
    assert fitted.shape.center == pytest.approx(center)
    noise = second - attacker.vectors
    directions = _left_out(fitted)[:, :3]
    assert second @ directions == pytest.approx(np.tile(center @ directions, (600, 1)), abs=1e-5)
    noise -= (noise @ directions) @ directions.T
    length = float(np.median(np.linalg.norm(attacker.vectors, axis=1)))
    assert np.sqrt((noise**2).sum(axis=1).mean()) == pytest.approx(0.5 * length, rel=0.03)
    assert not np.array_equal(first, second)


def test_facts_tell_what_the_first_and_the_last_attack_read() -> None:
    facts = _fit(_attacker(), start="nothing", rounds=5).facts
    assert facts["rounds_done"] == 5
    assert facts["recall_first"] > 0.8
    assert facts["recall_last"] < facts["recall_first"] - 0.2
    assert 0.15 < facts["recall_by_guessing"] < 0.35


def test_it_ends_where_the_attack_only_guesses() -> None:
    attacker = _Recorder(**vars(_skewed(_attacker())))
    fitted = _fit(attacker, start_directions=1)
    assert len(attacker.seen) == 1
    assert fitted.facts["rounds_done"] == 0
    assert fitted.facts["directions"] == 1
    assert fitted.facts["recall_last"] <= fitted.facts["recall_by_guessing"]
    assert 0.7 < fitted.facts["recall_by_guessing"] < 0.9


def test_with_nothing_left_out_an_attack_that_only_guesses_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match=r"'mlc' reads \d\d% of .* gives \d\d%: it guides nowhere"):
        _fit(_skewed(_attacker()), start="nothing")


@pytest.mark.parametrize("start", ["canonical", "nothing"])
def test_words_of_held_out_texts_do_not_touch_the_shape(start: str) -> None:
    attacker = _attacker()
    # Every second word is swapped, so that the attack still reads enough for the rounds to go on.
    other = list(attacker.words)
    for row in attacker.held_out[::2]:
        other[row] = ("word4",)
    first, second = (_fit(one, start=start) for one in (attacker, replace(attacker, words=tuple(other))))
    assert first.facts["recall_first"] > second.facts["recall_first"]
    assert first.facts["rounds_done"] == second.facts["rounds_done"] == 3
    assert np.array_equal(_left_out(first), _left_out(second))


def test_the_same_generator_state_gives_the_same_shape() -> None:
    attacker = _curved()
    settings: dict[str, Any] = {"start": "nothing", "rounds": 2, "directions": 2}
    first, second, other = (_fit(attacker, seed=seed, **settings) for seed in (1, 1, 2))
    assert first.facts == second.facts
    assert np.array_equal(_left_out(first), _left_out(second))
    assert not np.array_equal(_left_out(first), _left_out(other))


def test_words_that_give_fewer_directions_give_a_shorter_start() -> None:
    fitted = _fit(_attacker(words=2), start_directions=6, rounds=1)
    assert fitted.facts["directions"] <= 3


def test_more_directions_than_half_are_refused_with_the_numbers() -> None:
    with pytest.raises(
        InvalidInputError, match=r"of 20 directions at most 10 .* got 20 to start with and 3 rounds of 10, 50 in all"
    ):
        _fit(_attacker(), start_directions=20, directions=10)
    with pytest.raises(InvalidInputError, match="got 0 to start with and 3 rounds of 4, 12 in all"):
        _fit(_attacker(), start="nothing", directions=4)


def test_held_out_texts_without_words_are_refused() -> None:
    attacker = replace(_attacker(rows=96), words=(("gout",), ("asthma",)) * 40 + ((),) * 16)
    with pytest.raises(InvalidInputError, match="none of 16 held-out texts holds a sensitive word"):
        _fit(attacker)


def test_gradients_of_too_few_words_are_refused_with_their_number() -> None:
    words = [("gout",)] * 5 + [("asthma",)] * 4 + [()] * 71 + [("gout",), ("asthma",)] * 8
    vectors = np.random.default_rng(0).standard_normal((96, 20))
    vectors[:, 0] += [40 * ("gout" in held) for held in words]
    attacker = replace(_attacker(rows=96), vectors=vectors, words=tuple(words))
    with pytest.raises(InvalidInputError, match="at least 10 sensitive words, the texts hold 9 that") as refused:
        _fit(attacker, start="nothing")
    assert "gout" not in str(refused.value)


def test_without_an_attacker_there_is_nothing_to_learn() -> None:
    with pytest.raises(InvalidInputError, match="learned through an attack, got no attacker"):
        build_learner("attack-guided", settings=_SMALL).fit(
            Evidence(_PAIRS, _corpus(_attacker())), np.random.default_rng(0)
        )


def test_the_attacker_is_made_of_the_attack_that_is_named() -> None:
    asked: list[tuple[str, Any]] = []

    def make_attacker(attack: str, settings: Any, rng: np.random.Generator) -> PlantedAttacker:
        asked.append((attack, settings))
        return _attacker()

    learner = build_learner("attack-guided", settings={**_SMALL, "attack": "mine", "attack_settings": {"epochs": 3}})
    learner.fit(Evidence(_PAIRS, _corpus(_attacker()), make_attacker), np.random.default_rng(0))
    assert asked == [("mine", {"epochs": 3})]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"start": "canonic"}, "did you mean 'canonical'"),
        ({"start_directions": 0}, "start_directions must be a whole number of at least 1"),
        ({"rounds": 0}, "rounds must be a whole number of at least 1"),
        ({"directions": 1.5}, "directions must be a whole number of at least 1"),
        ({"noise": -0.1}, "noise must be a finite number of at least zero"),
        ({"attack": 3}, "attack must be the name of an attack, got 3"),
        ({"attack_settings": "fast"}, "attack_settings must be a table, got 'fast'"),
    ],
)
def test_settings_are_checked_at_birth(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises((InvalidInputError, UnknownNameError), match=reason):
        build_learner("attack-guided", settings=settings)


def test_the_attack_that_it_names_takes_its_settings() -> None:
    learner = build_learner("attack-guided")
    assert isinstance(learner, AttackLearner)
    assert vars(build_attack(learner.attack, learner.attack_settings))["epochs"] == 25


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    attacker = _attacker()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[local\]"):
        _fit(attacker)
