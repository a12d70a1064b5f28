"""The shape learners by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry, build
from vecveil.shapes.learner import ShapeLearner

SHAPE_LEARNERS: Registry[type[ShapeLearner]] = Registry(
    kind="shape",
    builtin={
        "attack-guided": "vecveil.shapes.attack_guided:AttackGuided",
        "canonical": "vecveil.shapes.canonical:Canonical",
        "difference": "vecveil.shapes.difference:Difference",
        "hard-concrete": "vecveil.shapes.hard_concrete:HardConcrete",
        "integrated-gradients": "vecveil.shapes.integrated_gradients:IntegratedGradients",
        "leace": "vecveil.shapes.leace:Leace",
        "neuron-sensitivity": "vecveil.shapes.neuron_sensitivity:NeuronSensitivity",
        "private-subspace": "vecveil.shapes.private_subspace:PrivateSubspace",
        "subspace": "vecveil.shapes.subspace:Subspace",
        "swap": "vecveil.shapes.swap:Swap",
        "uniform": "vecveil.shapes.uniform:Uniform",
    },
    group="vecveil.shapes",
)

DEFAULT_SHAPE = "canonical"
"""What is learned unless someone says otherwise: the shape that leaked least (docs/frontier.md)."""


def build_learner(name: str, *, preset: str | None = None, settings: Mapping[str, Any] | None = None) -> ShapeLearner:
    """Return the learner registered as `name`, with the settings of a preset and then `settings` over its defaults."""
    learner = SHAPE_LEARNERS.load(name)
    chosen: dict[str, Any] = {}
    if preset is not None:
        if not learner.presets:
            others = [one for one in SHAPE_LEARNERS.names() if preset in SHAPE_LEARNERS.load(one).presets]
            hint = f"; {' and '.join(map(repr, others))} have one of that name" if others else ""
            raise InvalidInputError(f"the shape {name!r} has no presets, got preset {preset!r}{hint}")
        chosen.update(learner.presets[one_of(preset, learner.presets, f"preset of {name!r}")])
    return build(SHAPE_LEARNERS, name, chosen | dict(settings or {}))
