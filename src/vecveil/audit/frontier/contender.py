"""Contenders on the frontier: shape learners and their directions."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from vecveil.audit.defenses import Veiled, make_veil
from vecveil.core.errors import InvalidInputError
from vecveil.core.specs import parse_spec
from vecveil.embedders import Fingerprint
from vecveil.shapes import SHAPE_LEARNERS, Evidence, ShapeLearner, build_learner
from vecveil.shapes.erasure import most_directions
from vecveil.shapes.missing_axes import fit_helpful_estimator
from vecveil.veil import Veil

COUNTS = (1, 2, 4, 8, 12, 20, 32, 48, 64, 96, 128, 192, 256, 384)
"""Numbers of directions that are tried."""


@dataclass(frozen=True)
class Contender:
    """A shape learner as a user names it.

    Attributes:
        spec: `NAME[:PRESET][,setting=value…]`; `uniform` is plain Laplace noise.
        settings: Further settings, over those of the spec.
    """

    spec: str
    settings: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        # A misspelled name or setting should not come to light after an hour of embedding.
        if not self.learner:
            raise InvalidInputError(f"{self.spec!r} names no shape")

    @cached_property
    def learner(self) -> ShapeLearner:
        """The learner with its settings."""
        parsed = parse_spec(self.spec, SHAPE_LEARNERS.kind)
        return build_learner(parsed.name, preset=parsed.target, settings={**parsed.settings, **dict(self.settings)})

    @property
    def is_family(self) -> bool:
        """Whether the number of directions that are left out is free."""
        settings: Any = self.learner
        names = {field.name for field in fields(settings)}
        return {"directions", "keep"} <= names and settings.directions == 0

    def counts(self, dimensions: int) -> tuple[int | None, ...]:
        """Return the numbers of directions to try, the fewest first; None where there is nothing to choose."""
        if not self.is_family:
            return (None,)
        return tuple(number for number in COUNTS if number <= most_directions(dimensions))

    def learn(self, evidence: Evidence, model: Fingerprint, directions: int | None, seed: int) -> Veil:
        """Return the veil for one number of directions; as the settings say where None."""
        settings: Any = self.learner
        learner: ShapeLearner = settings if directions is None else replace(settings, directions=directions)
        fitted = learner.fit(evidence, np.random.default_rng(seed))
        # On the uniform shape the default mechanism is Laplace noise.
        return make_veil(
            fitted.shape,
            evidence.pairs,
            model,
            learner=parse_spec(self.spec, SHAPE_LEARNERS.kind).name,
            estimator=fit_helpful_estimator(fitted.shape, evidence),
            facts=fitted.facts,
        )


def at_noise(veil: Veil, noise_ratio: float) -> Veiled:
    """Return the defense that a veil is with noise of that length."""
    return Veiled(veil=veil, epsilon=veil.epsilon_for(noise_ratio=noise_ratio))
