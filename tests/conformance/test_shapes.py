"""Every registered shape learner keeps the contract of `vecveil.testing.shapes`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from vecveil.core.progress import Progress, silent
from vecveil.shapes import SHAPE_LEARNERS, Evidence, NoiseShape, ShapeLearner, build_learner
from vecveil.shapes.learner import FittedShape
from vecveil.shapes.uniform import Uniform
from vecveil.testing.shapes import check_shape_learner

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "uniform": [{}],
    "neuron-sensitivity": [{}, {"compare": "all", "quantile": 1.0}, {"normalize": "level", "floor": 1e-6}],
    "hard-concrete": [
        {"epochs": 60},
        {"epochs": 60, "normalize": "level"},
        {"epochs": 60, "loss": "sum", "held_out": 0.0},
    ],
    "attack-guided": [
        {"start_directions": 2, "rounds": 2, "directions": 2},
        {"start": "nothing", "rounds": 3, "directions": 2, "noise": 0.0},
    ],
    "canonical": [{}, {"directions": 2}],
    "difference": [{}, {"cost": "corpus"}],
    "leace": [{}, {"target": "words"}],
    "private-subspace": [{"epsilon": 50.0, "longest": 3.0}, {"epsilon": 50.0, "longest": 3.0, "directions": 1}],
    "subspace": [{}, {"directions": 2}],
    "swap": [{}, {"directions": 2, "floor": 0.5}],
    "integrated-gradients": [{"steps": 8}, {"steps": 8, "baseline": "zero", "normalize": "level", "floor": 1e-6}],
}


def test_every_registered_learner_is_covered() -> None:
    assert set(SETTINGS) == set(SHAPE_LEARNERS.names())


@pytest.mark.parametrize("name", SHAPE_LEARNERS.names())
def test_learner_keeps_the_contract(name: str) -> None:
    for settings in SETTINGS[name]:
        check_shape_learner(build_learner(name, settings=settings))


class Overwriting(Uniform):
    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        evidence.pairs.without_concept[0] += 1
        return super().fit(evidence, rng, progress=progress)


class Short(Uniform):
    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        whole = super().fit(evidence, rng, progress=progress)
        return replace(whole, shape=NoiseShape(variances=whole.shape.variances[1:]))


class OwnGenerator(Uniform):
    """Draws from a generator that was not handed in."""

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        whole = super().fit(evidence, rng, progress=progress)
        drawn = np.random.default_rng().random(evidence.pairs.dimensions)
        return replace(whole, shape=NoiseShape(variances=1 + drawn))


class ManyFacts(Uniform):
    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        drawn = float(np.random.default_rng().random())
        return replace(super().fit(evidence, rng, progress=progress), facts={"drawn": drawn})


class Wordy(Uniform):
    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        facts: Any = {"quality": "good"}
        return replace(super().fit(evidence, rng, progress=progress), facts=facts)


class Blind(Uniform):
    """Says that it looks through an attack, and does not."""

    attack = "mlc"
    attack_settings: ClassVar[dict[str, Any]] = {}


@pytest.mark.parametrize(
    ("learner", "fact"),
    [
        (Overwriting(), "must not change the pairs"),
        (Short(), "must have the vectors' dimensions"),
        (OwnGenerator(), "the same seed must give the same shape"),
        (ManyFacts(), "the same seed must give the same facts"),
        (Wordy(), "facts must be numbers"),
        (Blind(), "must say so where it gets none"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Uniform) else "",
)
def test_a_learner_that_breaks_the_contract_is_caught(learner: ShapeLearner, fact: str) -> None:
    check_shape_learner(Uniform())
    with pytest.raises(AssertionError, match=fact):
        check_shape_learner(learner)
