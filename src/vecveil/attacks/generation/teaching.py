"""Teacher forcing: a network learns to tell each next piece of a text from its vector and the pieces before it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from vecveil.attacks.generation.token_rows import TokenRows, bucketed_batches, by_length
from vecveil.attacks.training.checkpoint import Checkpoint, TrainingState
from vecveil.attacks.training.loop import Rows, train
from vecveil.attacks.training.schedule import Schedule
from vecveil.core.progress import Progress, silent

Condition: TypeAlias = tuple[torch.Tensor, ...]
"""What a network knows of a text before its first piece."""

HELD_OUT_BATCH = 256


@dataclass(frozen=True, kw_only=True, eq=False)
class Lesson:
    """Texts to learn, or to be tested on.

    Attributes:
        texts: Their pieces.
        condition: What the network is told of the texts with these numbers.
    """

    texts: TokenRows
    condition: Callable[[Rows], Condition]


def teach(
    network: torch.nn.Module,
    lesson: Lesson,
    held_out: Lesson,
    *,
    schedule: Schedule,
    batch_size: int,
    rng: np.random.Generator,
    checkpoint: Checkpoint | None = None,
    pretrained: bool = False,
    told: Callable[[TrainingState], None] | None = None,
    label: str,
    progress: Progress = silent,
) -> TrainingState:
    """Train `network` in place; the best score of the state is minus the held-out loss per piece, in nats."""

    def loss(rows: Rows) -> torch.Tensor:
        with fast_numbers():
            return _loss(network, lesson, rows, reduction="mean")

    def score() -> float:
        with fast_numbers():
            total = sum(
                float(_loss(network, held_out, rows, reduction="sum"))
                for rows in by_length(held_out.texts.lengths, HELD_OUT_BATCH)
            )
        return -total / float(held_out.texts.lengths.sum())

    return train(
        network,
        schedule=schedule,
        batches=bucketed_batches(lesson.texts.lengths, batch_size, rng),
        loss=loss,
        score=score,
        checkpoint=checkpoint,
        pretrained=pretrained,
        told=told,
        label=label,
        progress=progress,
    )


def fast_numbers() -> AbstractContextManager[Any]:
    """Return the context in which products are taken in bfloat16, where the processor has instructions for it."""
    # Older versions of torch can't tell.
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=bool(capabilities.get("avx512_bf16")))


def _loss(network: torch.nn.Module, lesson: Lesson, rows: Rows, *, reduction: str) -> torch.Tensor:
    pieces, real = lesson.texts.block(rows)
    logits: torch.Tensor = network(pieces, real, *lesson.condition(rows))
    # A copy in full precision would take a sixth of a step; only what is compared needs it.
    return cross_entropy(logits if network.training else logits.float(), pieces[real], reduction=reduction)
