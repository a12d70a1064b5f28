"""Every registered shape learner keeps the contract of `vecveil.testing.shapes`."""

from __future__ import annotations

from typing import Any

import pytest

from vecveil.shapes import SHAPE_LEARNERS, build_learner
from vecveil.testing.shapes import check_shape_learner

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "uniform": [{}],
    "neuron-sensitivity": [{}, {"compare": "all", "quantile": 1.0}, {"normalise": "level", "floor": 1e-6}],
    "hard-concrete": [
        {"epochs": 30},
        {"epochs": 30, "normalise": "level"},
        {"epochs": 30, "loss": "sum", "held_out": 0.0},
    ],
    "attack-guided": [
        {"start_directions": 2, "rounds": 2, "directions": 2},
        {"start": "nothing", "rounds": 3, "directions": 2, "noise": 0.0},
    ],
    "canonical": [{}, {"directions": 2}],
    "difference": [{}, {"cost": "corpus"}],
    "leace": [{}, {"target": "words"}],
    "subspace": [{}, {"directions": 2}],
    "integrated-gradients": [{"steps": 8}, {"steps": 8, "baseline": "zero", "normalise": "level", "floor": 1e-6}],
}


def test_every_registered_learner_is_covered() -> None:
    assert set(SETTINGS) == set(SHAPE_LEARNERS.names())


@pytest.mark.parametrize("name", SHAPE_LEARNERS.names())
def test_learner_keeps_the_contract(name: str) -> None:
    for settings in SETTINGS[name]:
        check_shape_learner(build_learner(name, settings=settings))
