"""A defence on the frontier: a shape learner, and for those that leave directions out one shape for each number."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from vecveil.audit.budgets import Budget
from vecveil.audit.defences import Noise
from vecveil.core.errors import InvalidInputError
from vecveil.core.specs import parse_spec
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import SHAPE_LEARNERS, ShapeLearner, build_learner
from vecveil.shapes.erasure import most_directions
from vecveil.veil.fitting import Fitted

COUNTS = (1, 2, 4, 8, 12, 20, 32, 48, 64, 96, 128, 192, 256, 384)
"""Numbers of directions that are tried."""

MECHANISM = "mahalanobis"
"""On the uniform shape it is the Laplace mechanism."""


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
        # A misspelt name or setting should not come to light after an hour of embedding.
        if not self.learner:
            raise InvalidInputError(f"{self.spec!r} names no shape")

    @cached_property
    def learner(self) -> ShapeLearner:
        """The learner with its settings."""
        parsed = parse_spec(self.spec, SHAPE_LEARNERS.kind)
        return build_learner(parsed.name, preset=parsed.target, settings={**parsed.settings, **dict(self.settings)})

    @property
    def family(self) -> bool:
        """Whether the number of directions that are left out is free."""
        settings: Any = self.learner
        names = {field.name for field in fields(settings)}
        return {"directions", "keep"} <= names and settings.directions == 0

    def with_directions(self, count: int | None) -> ShapeLearner:
        """Return the learner for one number of directions; as it is where None."""
        settings: Any = self.learner
        learner: ShapeLearner = settings if count is None else replace(settings, directions=count)
        return learner

    def counts(self, dimensions: int) -> tuple[int | None, ...]:
        """Return the numbers of directions to try, the fewest first; None where there is nothing to choose."""
        return tuple(number for number in COUNTS if number <= most_directions(dimensions)) if self.family else (None,)


def at_noise(fitted: Fitted, ratio: float, signal: float) -> Noise:
    """Return the defence that a shape is with noise of that length, over `signal`."""
    budget = Budget(value=ratio, scale="noise-ratio")
    mechanism = budget.mechanism(MECHANISMS.load(MECHANISM), fitted.shape, signal=signal)
    return Noise(mechanism=mechanism, axes=fitted.shape.axes, filling=fitted.filling)
