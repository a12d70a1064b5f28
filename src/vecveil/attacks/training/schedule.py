"""How long and how fast a network learns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vecveil.attacks.training.checkpoint import TrainingState
from vecveil.core.checks import at_least, positive


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and how fast an attack learns.

    Attributes:
        epochs: Most passes over the training data.
        learning_rate: Adam's step after warming up.
        patience: Rounds without improvement on held-out data after which training stops.
        round_steps: Batches between two looks at held-out data; a whole epoch where None.
        round_seconds: Time between two looks, where it is given instead.
        warmup: Batches over which the step grows from zero.
        decay: Whether the step falls along a half cosine, to a hundredth at the end of the last epoch.
        clip: Longest gradient.
        hours: Longest time in training, over all its sittings; the step then falls with the time that is used up.
    """

    epochs: int
    learning_rate: float
    patience: int
    round_steps: int | None = None
    round_seconds: float | None = None
    warmup: int = 0
    decay: bool = False
    clip: float = 1.0
    hours: float | None = None

    def __post_init__(self) -> None:
        at_least(self.epochs, 1, "epochs")
        positive(self.learning_rate, "learning_rate")
        at_least(self.patience, 1, "patience")
        at_least(self.warmup, 0, "warmup")
        positive(self.clip, "clip")
        if self.round_steps is not None:
            at_least(self.round_steps, 1, "round_steps")
        for name in ("round_seconds", "hours"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)

    def rate(self, step: int, done: float) -> float:
        """Return Adam's step for batch `step`, when the share `done` of the training lies behind."""
        warm = min(1.0, (step + 1) / (self.warmup + 1))
        fall = 0.01 + 0.99 * (1 + np.cos(np.pi * min(1.0, done))) / 2 if self.decay else 1.0
        return float(self.learning_rate * warm * fall)

    def done(self, state: TrainingState, steps: int) -> float:
        """Return the share of the training that lies behind: of its batches or of its time, whichever is more."""
        by_time = 0.0 if self.hours is None else state.seconds / (3600 * self.hours)
        return max(state.step / steps, by_time)

    def ends_round(self, state: TrainingState, last: TrainingState, in_epoch: int) -> bool:
        """Return whether it is time to look at held-out data, when the last look was at the state `last`."""
        if self.round_seconds is not None:
            return state.seconds - last.seconds >= self.round_seconds
        return state.step % (self.round_steps or in_epoch) == 0
