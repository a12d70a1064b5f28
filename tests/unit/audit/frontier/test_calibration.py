from __future__ import annotations

from typing import Any

import pytest

from support.corpora import ILLNESSES, toy_concept, toy_texts, toy_workbench
from support.embedders import WordEmbedder
from vecveil.audit.frontier import Calibration, Target, Workbench, calibrate, learn_to_target
from vecveil.audit.frontier.contender import Contender
from vecveil.core.errors import InvalidInputError

NEAREST = "nearest"
"""An attack that is read at once; directions are chosen by it alone, since it is the other guide too."""


def _calibrate(name: str, *levels: float, attack: str = NEAREST, **target: Any) -> Calibration:
    return calibrate(toy_workbench(), Contender(name), Target(attack=attack, **target), levels=levels)


def test_the_utility_to_keep_names_a_point() -> None:
    found = _calibrate("canonical", 0.97, keep_utility=0.85)
    chosen = found.points[found.chosen]
    assert chosen.choice.level == 0.85
    assert [point.choice.level for point in found.points] == [0.97, 0.85]
    assert chosen.leakage < found.undefended
    assert _calibrate("canonical", 0.97, keep_utility=0.85) == found


def test_the_most_leakage_names_the_point_with_the_most_utility() -> None:
    everything = _calibrate("canonical", 0.97, 0.7, keep_utility=0.97).points
    most = max(point.leakage for point in everything) + 0.01
    found = _calibrate("canonical", 0.97, 0.7, max_leakage=most)
    assert [point.choice.level for point in found.points] == [0.97, 0.7]
    assert found.chosen == 0


def test_a_target_that_no_point_meets_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInputError, match=r"at no level does the attack read 0\.1% or less; the least was"):
        _calibrate("uniform", 0.97, max_leakage=0.001)
    with pytest.raises(InvalidInputError, match=r"no shape keeps 100\.0% of the utility with noise on it"):
        _calibrate("uniform", 0.97, keep_utility=0.9999)


def test_an_attack_that_reads_too_little_is_no_measure() -> None:
    with pytest.raises(InvalidInputError, match=r"no more than the 99\.0% that are allowed: it is too weak"):
        _calibrate("uniform", 0.97, max_leakage=0.99)


def test_a_target_becomes_a_veil_with_its_budget() -> None:
    target = Target(keep_utility=0.8, attack=NEAREST)
    veil, found = learn_to_target(toy_concept(), toy_texts(200), target, embedder=WordEmbedder())
    choice = found.points[found.chosen].choice
    assert veil.epsilon is not None
    assert veil.shape.dimensions - veil.shape.released == choice.directions
    assert veil.mechanism_at(veil.epsilon).noise_ratio(veil.typical.signal) == pytest.approx(choice.noise_ratio)


def test_what_learning_would_refuse_is_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Workbench, "attack", None)
    texts = [*toy_texts(200), ILLNESSES[0]]
    with pytest.raises(InvalidInputError, match="drop_empty"):
        learn_to_target(toy_concept(), texts, Target(keep_utility=0.8, attack=NEAREST), embedder=WordEmbedder())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "name one target"),
        ({"keep_utility": 0.9, "max_leakage": 0.1}, "name one target"),
        ({"keep_utility": 1.9}, "keep_utility"),
        ({"max_leakage": -0.1}, "max_leakage"),
        ({"keep_utility": 0.9, "attack": "mlk"}, "did you mean 'mlc'"),
    ],
)
def test_a_wrong_target_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Target(**settings)
