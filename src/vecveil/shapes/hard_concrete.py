"""SPARSE's neuron mask: gates that learn which dimensions tell texts with the concept from texts without it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import at_least, fraction, not_negative, one_of, positive
from vecveil.core.errors import InvalidInputError, VecveilWarning
from vecveil.core.progress import Progress, silent
from vecveil.shapes.learner import FittedShape
from vecveil.shapes.normalisation import Normalisation, variances_from_weights
from vecveil.shapes.pairs import ContrastPairs
from vecveil.shapes.shape import NoiseShape

Reduction = Literal["mean", "sum"]


NEAR_CHANCE = 0.6
"""A masked classifier that is right less often than this has hardly seen the concept."""


@dataclass(frozen=True, kw_only=True)
class HardConcrete:
    """Algorithm 2 of the paper: an MLP that tells D⁺ from D⁻ through a mask of hard-concrete gates, trained together.

    The defaults are the `working` preset. The `paper` preset has the printed settings, but for the sign of the penalty
    (see `penalty_sign`) and the initial temperature, which is not printed. With it no gate closes on corpora of a few
    thousand pairs: Adam's steps of 1e-4 are too few and too short.

    Attributes:
        penalty: λ, the weight of the expected share of open gates.
        penalty_sign: +1 penalises open gates, as Louizos et al. do; -1 rewards them, as the paper's formula prints.
        learning_rate: Adam's step for the classifier.
        gate_learning_rate: Adam's step for the gates (log α and log β).
        loss: Whether the classification loss is a `mean` or, as printed, a `sum` over the minibatch.
        standardise: Whether dimensions are brought to equal spread first, so that gates start on equal terms.
        temperature: Initial β of every gate.
        epochs: Passes over the pairs.
        batch_size: Pairs per step.
        hidden: Widths of the classifier's hidden layers.
        held_out: Share of the pairs kept aside to measure the masked classifier's accuracy; 0 for none.
        normalise: How gates become variances.
        floor: Smallest variance (the paper's δ).
    """

    penalty: float = 0.1
    penalty_sign: Literal[1, -1] = 1
    learning_rate: float = 1e-3
    gate_learning_rate: float = 5e-2
    loss: Reduction = "mean"
    standardise: bool = True
    temperature: float = 2 / 3
    epochs: int = 100
    batch_size: int = 64
    hidden: tuple[int, ...] = (256, 128)
    held_out: float = 0.1
    normalise: Normalisation = "trace"
    floor: float = 0.1

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "working": {},
        "paper": {
            "penalty": 1e-3,
            "learning_rate": 1e-4,
            "gate_learning_rate": 1e-4,
            "loss": "sum",
            "standardise": False,
            "held_out": 0.0,
            "floor": 1e-6,
        },
    }

    def __post_init__(self) -> None:
        not_negative(self.penalty, "penalty")
        if self.penalty_sign not in (1, -1):
            raise InvalidInputError(f"penalty_sign must be 1 or -1, got {self.penalty_sign!r}")
        for name in ("learning_rate", "gate_learning_rate", "temperature"):
            positive(getattr(self, name), name)
        fraction(self.floor, "floor")
        one_of(self.loss, get_args(Reduction), "loss reduction")
        one_of(self.normalise, get_args(Normalisation), "normalisation")
        at_least(self.epochs, 1, "epochs")
        at_least(self.batch_size, 1, "batch_size")
        if not isinstance(self.hidden, tuple | list):
            raise InvalidInputError(f"hidden must be a list of widths, got {self.hidden!r}")
        for width in self.hidden:
            at_least(width, 1, "each width of hidden")
        if not isinstance(self.standardise, bool):
            raise InvalidInputError(f"standardise must be true or false, got {self.standardise!r}")
        if not_negative(self.held_out, "held_out") >= 1:
            raise InvalidInputError(f"held_out must be at least 0 and below 1, got {self.held_out!r}")

    def fit(self, pairs: ContrastPairs, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape of the trained gates, with how many of them closed and how well the mask still tells."""
        gates, accuracy = self._train(pairs, rng, progress)
        held = round(self.held_out * len(pairs))
        if accuracy is not None and accuracy < NEAR_CHANCE:
            message = (
                f"the mask tells texts with the concept from others in {accuracy:.0%} of {2 * held} held-out cases, "
                "and 50% is chance: it says little about the concept; more texts may help"
            )
            warnings.warn(message, VecveilWarning, stacklevel=2)
        variances = variances_from_weights(gates, normalise=self.normalise, floor=self.floor)
        facts = {
            "mean_gate": float(gates.mean()),
            "closed_gates": float((gates == 0).mean()),
            "open_gates": float((gates == 1).mean()),
        }
        if accuracy is not None:
            facts |= {"held_out_accuracy": accuracy, "held_out_pairs": float(held)}
        return FittedShape(shape=NoiseShape(variances=variances), facts=facts)

    def _train(self, pairs: ContrastPairs, rng: np.random.Generator, progress: Progress) -> tuple[Vector, float | None]:
        # Late: its loops take a moment to load, and more the first time.
        from vecveil.shapes.gate_training import GateTraining

        held, kept = np.split(rng.permutation(len(pairs)), [round(self.held_out * len(pairs))])
        if kept.size < 2:
            raise InvalidInputError(
                f"held_out {self.held_out!r} leaves {kept.size} of {len(pairs)} pairs to learn from"
            )
        scale = self._scale(pairs)
        # The two of a pair lie side by side, so that they are fetched together.
        both = np.stack([pairs.with_concept * scale, pairs.without_concept * scale], axis=1)
        samples = np.ascontiguousarray(both, dtype=np.float32)
        training = GateTraining(
            samples,
            hidden=tuple(self.hidden),
            temperature=self.temperature,
            penalty=self.penalty_sign * self.penalty,
            mean=self.loss == "mean",
            rates=(self.learning_rate, self.gate_learning_rate),
            batch_size=min(self.batch_size, kept.size),
            rng=rng,
        )
        # Numbers that run away are looked at when there is a mask.
        with np.errstate(all="ignore"):
            for _ in progress(range(self.epochs), label="learning the mask", total=self.epochs):
                order = rng.permutation(kept)
                for start in range(0, kept.size, self.batch_size):
                    # One mask per step, as in Algorithm 2: it is the dimensions that are gated, not the samples.
                    uniform = rng.random(pairs.dimensions, dtype=np.float32)
                    training.step(order[start : start + self.batch_size], uniform)
        mask = training.gates.settled().astype(np.float64)
        if held.size == 0:
            return mask, None
        right = (training.logits(samples[held, 0]) > 0).sum() + (training.logits(samples[held, 1]) <= 0).sum()
        return mask, float(right) / (2 * held.size)

    def _scale(self, pairs: ContrastPairs) -> Vector | float:
        if not self.standardise:
            return 1.0
        spread = np.concatenate([pairs.with_concept, pairs.without_concept]).std(axis=0, dtype=np.float64)
        # A dimension that never moves says nothing; it keeps its scale instead of being divided by zero.
        return np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 1.0)
