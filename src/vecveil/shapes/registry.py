"""The shape learners by name, and how one is made from a name and settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.registry import Registry
from vecveil.shapes.learner import ShapeLearner

SHAPE_LEARNERS: Registry[type[ShapeLearner]] = Registry(
    kind="shape",
    builtin={
        "hard-concrete": "vecveil.shapes.hard_concrete:HardConcrete",
        "neuron-sensitivity": "vecveil.shapes.neuron_sensitivity:NeuronSensitivity",
        "uniform": "vecveil.shapes.uniform:Uniform",
    },
    group="vecveil.shapes",
)


def build_learner(name: str, *, preset: str | None = None, settings: Mapping[str, Any] | None = None) -> ShapeLearner:
    """Return the learner registered as `name`, with the settings of a preset and then `settings` over its defaults."""
    learner: Any = SHAPE_LEARNERS.load(name)
    known = {field.name for field in fields(learner)}
    chosen: dict[str, Any] = {}
    if preset is not None:
        if not learner.presets:
            raise InvalidInputError(f"the shape {name!r} has no presets, got preset {preset!r}")
        chosen.update(learner.presets[one_of(preset, learner.presets, f"preset of {name!r}")])
    for key, value in (settings or {}).items():
        chosen[one_of(key, known, f"setting of the shape {name!r}")] = value
    built: ShapeLearner = learner(**chosen)
    return built
