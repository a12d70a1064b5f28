"""The contract of shape learners, and their registry by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np

from vecveil.accounting import GaussianLoss
from vecveil.core.checks import one_of
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.core.registry import Registry, build
from vecveil.shapes.evidence import Evidence
from vecveil.shapes.shape import NoiseShape


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedShape:
    """A learned shape and what was noticed while learning it.

    Attributes:
        shape: Where the noise goes.
        facts: Numbers worth printing, by name: realized sparsity, held-out accuracy, and the like.
        loss: What its axes and variances tell of one text at most; None where nobody has bounded that.
    """

    shape: NoiseShape
    facts: Mapping[str, float] = field(default_factory=dict)
    loss: GaussianLoss | None = None


class ShapeLearner(Protocol):
    """Settings that turn evidence into a shape. A dataclass: its fields are what users may set."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Settings by the name of a preset; a learner whose base is this Protocol has none unless it says so."""

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape; the same evidence and generator state give the same shape."""


@runtime_checkable
class AttackLearner(ShapeLearner, Protocol):
    """A learner that looks through an attack, which `learn` checks before anything is embedded."""

    @property
    def attack(self) -> str:
        """Name of the attack."""

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        """Settings of that attack, over its defaults."""


def check_attack(learner: AttackLearner) -> None:
    """Raise unless the attack is a name and its settings are a table; a command line may hand in anything."""
    name, settings = cast(Any, learner.attack), cast(Any, learner.attack_settings)
    if not isinstance(name, str):
        raise InvalidInputError(f"attack must be the name of an attack, got {name!r}")
    if not isinstance(settings, Mapping):
        raise InvalidInputError(f"attack_settings must be a table, got {settings!r}")


@runtime_checkable
class PrivateLearner(ShapeLearner, Protocol):
    """A learner whose shape is differentially private, if nobody knows the generator's state."""

    @property
    def loss(self) -> GaussianLoss:
        """What the shape may tell of one text."""


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
