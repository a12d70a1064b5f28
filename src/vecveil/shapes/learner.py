"""The protocol that every shape learner satisfies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from vecveil.accounting import GaussianLoss
from vecveil.core.progress import Progress, silent
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

    presets: ClassVar[Mapping[str, Mapping[str, Any]]]

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape; the same evidence and generator state give the same shape."""
        ...


@runtime_checkable
class AttackLearner(ShapeLearner, Protocol):
    """A learner that looks through an attack, which `learn` checks before anything is embedded."""

    @property
    def attack(self) -> str:
        """Name of the attack."""
        ...

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        """Settings of that attack, over its defaults."""
        ...


@runtime_checkable
class PrivateLearner(ShapeLearner, Protocol):
    """A learner whose shape is differentially private, if nobody knows the generator's state."""

    @property
    def loss(self) -> GaussianLoss:
        """What the shape may tell of one text."""
        ...
