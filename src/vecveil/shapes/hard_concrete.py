"""SPARSE's neuron mask: hard-concrete gates that learn which dimensions carry the concept."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import at_least, fraction, not_negative, one_of, positive, widths
from vecveil.core.errors import InvalidInputError, VecveilWarning, needs_extra
from vecveil.core.progress import Progress, silent
from vecveil.shapes.evidence import ContrastPairs, Evidence
from vecveil.shapes.learner import FittedShape, ShapeLearner
from vecveil.shapes.shape import NoiseShape, Normalization, variances_from_weights

if TYPE_CHECKING:
    from torch import Tensor

Reduction = Literal["mean", "sum"]

STRETCH_HIGH, STRETCH_LOW = 1.1, -0.1
"""The paper's ξ and γ: the concrete distribution is stretched past 0 and 1, then cut, so that gates can close."""

MARGIN = 1e-6
"""Uniform numbers stay this far from 0 and 1, whose logits are infinite."""

CLOSED = -math.log((STRETCH_HIGH - STRETCH_LOW) / -STRETCH_LOW - 1)
"""Log α from which a gate is closed after training."""

NEAR_CHANCE = 0.6
"""A masked classifier that is right less often than this has hardly seen the concept."""


@dataclass(frozen=True, kw_only=True)
class HardConcrete(ShapeLearner):
    """Algorithm 2 of the paper: an MLP that tells D⁺ from D⁻ through a mask of hard-concrete gates, trained together.

    The defaults are the `working` preset. The `paper` preset has the printed settings, but for the sign of the penalty
    (see `penalty_sign`) and where gates start, which is not printed. With it no gate closes on corpora of a few
    thousand pairs: Adam's steps of 1e-4 are too few and too short, which is warned of.

    Attributes:
        penalty: λ, the weight of the expected share of open gates.
        penalty_sign: +1 penalizes open gates, as Louizos et al. do; -1 rewards them, as the paper's formula prints.
        learning_rate: Adam's step for the classifier.
        gate_learning_rate: Adam's step for the gates (log α and log β).
        loss: Whether the classification loss is a `mean` or, as printed, a `sum` over the minibatch.
        standardize: Whether dimensions are brought to equal spread first, so that gates start on equal terms.
        temperature: Initial β of every gate.
        initial: Initial log α of every gate, which is not printed; 0 is half open.
        epochs: Passes over the pairs.
        batch_size: Pairs per step.
        hidden: Widths of the classifier's hidden layers.
        held_out: Share of the pairs kept aside to measure the masked classifier's accuracy; 0 for none.
        normalize: How gates become variances.
        floor: Smallest variance (the paper's δ).
    """

    penalty: float = 0.1
    penalty_sign: Literal[1, -1] = 1
    learning_rate: float = 1e-3
    gate_learning_rate: float = 5e-2
    loss: Reduction = "mean"
    standardize: bool = True
    temperature: float = 2 / 3
    initial: float = 0.0
    epochs: int = 100
    batch_size: int = 64
    hidden: tuple[int, ...] = (256, 128)
    held_out: float = 0.1
    normalize: Normalization = "trace"
    floor: float = 0.1

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "working": {},
        "paper": {
            "penalty": 1e-3,
            "learning_rate": 1e-4,
            "gate_learning_rate": 1e-4,
            "loss": "sum",
            "standardize": False,
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
        if not isinstance(self.initial, int | float) or not math.isfinite(self.initial):
            raise InvalidInputError(f"initial must be a finite number, got {self.initial!r}")
        one_of(self.loss, get_args(Reduction), "loss reduction")
        one_of(self.normalize, get_args(Normalization), "normalization")
        at_least(self.epochs, 1, "epochs")
        at_least(self.batch_size, 1, "batch_size")
        widths(self.hidden)
        if not isinstance(self.standardize, bool):
            raise InvalidInputError(f"standardize must be true or false, got {self.standardize!r}")
        if not_negative(self.held_out, "held_out") >= 1:
            raise InvalidInputError(f"held_out must be at least 0 and below 1, got {self.held_out!r}")

    def fit(self, evidence: Evidence, rng: np.random.Generator, *, progress: Progress = silent) -> FittedShape:
        """Return the shape of the trained gates, with how many of them closed and how well the mask still tells."""
        pairs = evidence.pairs
        held, kept = np.split(rng.permutation(len(pairs)), [round(self.held_out * len(pairs))])
        if kept.size < 2:
            raise InvalidInputError(
                f"held_out {self.held_out!r} leaves {kept.size} of {len(pairs)} pairs to learn from"
            )
        self._warn_of_gates_that_cannot_close(kept.size)
        gates, accuracy = self._train(pairs, kept, held, rng, progress)
        if accuracy is not None and accuracy < NEAR_CHANCE:
            message = (
                f"the mask tells texts with the concept from others in {accuracy:.0%} of {2 * held.size} held-out "
                "cases, and 50% is chance: it says little about the concept; more texts may help"
            )
            warnings.warn(message, VecveilWarning, stacklevel=2)
        facts = {
            "mean_gate": float(gates.mean()),
            "closed_gates": float((gates == 0).mean()),
            "open_gates": float((gates == 1).mean()),
        }
        if accuracy is not None:
            facts |= {"held_out_accuracy": accuracy, "held_out_pairs": float(held.size)}
        variances = variances_from_weights(gates, normalize=self.normalize, floor=self.floor)
        return FittedShape(shape=NoiseShape(variances=variances), facts=facts)

    def _train(
        self, pairs: ContrastPairs, kept: Any, held: Any, rng: np.random.Generator, progress: Progress
    ) -> tuple[Vector, float | None]:
        """Return the mask after training (Algorithm 2), and the masked classifier's accuracy on pairs held out."""
        with needs_extra("torch", "local"):
            import torch
        scale = self._scale(pairs)
        positive, negative = (
            torch.from_numpy(np.asarray(side * scale, dtype=np.float32))
            for side in (pairs.with_concept, pairs.without_concept)
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(rng.integers(2**63)))
            gates = Gates(pairs.dimensions, self.temperature, initial=self.initial)
            classifier = _classifier(pairs.dimensions, self.hidden)
            groups = [
                {"params": classifier.parameters(), "lr": self.learning_rate},
                {"params": [gates.log_alpha, gates.log_beta], "lr": self.gate_learning_rate},
            ]
            optimizer = torch.optim.Adam(groups, fused=True)
            loss = torch.nn.BCEWithLogitsLoss(reduction=self.loss)
            for _ in progress(range(self.epochs), label="learning the mask", total=self.epochs):
                order = torch.from_numpy(rng.permutation(kept))
                for start in range(0, kept.size, self.batch_size):
                    batch = order[start : start + self.batch_size]
                    # One mask per step, as in Algorithm 2: it is the dimensions that are gated, not the samples.
                    inputs = torch.cat([positive[batch], negative[batch]]) * gates.sample()
                    targets = (torch.arange(len(inputs)) < len(batch)).float()
                    penalty = self.penalty_sign * self.penalty * gates.expected_open()
                    optimizer.zero_grad()
                    (loss(classifier(inputs), targets) + penalty).backward()
                    optimizer.step()
        with torch.no_grad():
            mask = gates.after_training()
            right = (classifier(positive[held] * mask) > 0).sum() + (classifier(negative[held] * mask) <= 0).sum()
        return mask.double().numpy(), float(right) / (2 * held.size) if held.size else None

    def _warn_of_gates_that_cannot_close(self, pairs: int) -> None:
        # Adam moves a number by about its rate in a step, whatever the gradient.
        steps = self.epochs * math.ceil(pairs / self.batch_size)
        needed = (self.initial - CLOSED) / self.gate_learning_rate
        if steps < needed:
            enough = math.ceil(needed / self.epochs) * self.batch_size
            message = (
                f"no gate of the mask can close: that takes about {needed:,.0f} steps of {self.gate_learning_rate:g}, "
                f"and {pairs:,} pairs give {steps:,}, so that the noise stays nearly the same in every direction; "
                f"about {enough:,} pairs are enough, or a larger gate_learning_rate"
            )
            warnings.warn(message, VecveilWarning, stacklevel=3)

    def _scale(self, pairs: ContrastPairs) -> Vector | float:
        if not self.standardize:
            return 1.0
        spread = np.concatenate([pairs.with_concept, pairs.without_concept]).std(axis=0, dtype=np.float64)
        # A dimension that never moves says nothing; it keeps its scale instead of being divided by zero.
        return np.where(spread > 0, 1 / np.where(spread > 0, spread, 1.0), 1.0)


class Gates:
    """One hard-concrete gate per dimension: a random number between 0 and 1 that reaches both.

    Attributes:
        log_alpha: Locations of the gates.
        log_beta: Logarithms of their temperatures.
    """

    def __init__(self, dimensions: int, temperature: float, *, initial: float = 0.0) -> None:
        import torch

        self.log_alpha = torch.full((dimensions,), initial, requires_grad=True)
        self.log_beta = torch.full((dimensions,), math.log(temperature), requires_grad=True)

    def sample(self, uniform: Tensor | None = None) -> Tensor:
        """Return one random mask (equation 1), from the uniform numbers that are given or fresh ones."""
        import torch

        u = (torch.rand_like(self.log_alpha) if uniform is None else uniform).clamp(MARGIN, 1 - MARGIN)
        return _stretch(torch.sigmoid((torch.logit(u) + self.log_alpha) / self.log_beta.exp()))

    def after_training(self) -> Tensor:
        """Return the mask that is used after training (equation 2)."""
        return _stretch(self.log_alpha.sigmoid())

    def expected_open(self) -> Tensor:
        """Return the expected share of gates that are not closed (equation 4, without its sign)."""
        return (self.log_alpha - self.log_beta.exp() * math.log(-STRETCH_LOW / STRETCH_HIGH)).sigmoid().mean()


def _stretch(share: Tensor) -> Tensor:
    return (share * (STRETCH_HIGH - STRETCH_LOW) + STRETCH_LOW).clamp(0, 1)


def _classifier(dimensions: int, hidden: tuple[int, ...]) -> Any:
    """Return an MLP with ReLU layers of the given widths and one logit."""
    from torch import nn

    sizes = (dimensions, *hidden)
    layers = [layer for width, units in itertools.pairwise(sizes) for layer in (nn.Linear(width, units), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], 1), nn.Flatten(0))
