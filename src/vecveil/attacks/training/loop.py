"""The training loop of every attack that is a network: rounds, early stopping on held-out data, checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks.training.checkpoint import Checkpoint, TrainingState
from vecveil.attacks.training.schedule import Schedule
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent

if TYPE_CHECKING:
    import torch

__all__ = ["Rows", "Schedule", "shuffled_batches", "threads_for", "train"]

Rows = NDArray[np.intp]

SMALL_NETWORK = 2_000_000
"""Parameters below which a second thread costs more than it brings."""


def train(
    module: torch.nn.Module,
    *,
    schedule: Schedule,
    batches: Callable[[int], Sequence[Rows]],
    loss: Callable[[Rows], torch.Tensor],
    score: Callable[[], float],
    checkpoint: Checkpoint | None = None,
    pretrained: bool = False,
    told: Callable[[TrainingState], None] | None = None,
    label: str = "training",
    progress: Progress = silent,
) -> TrainingState:
    """Train `module` in place until it stops improving, and leave it as it was at its best.

    Args:
        module: What is trained.
        schedule: How long and how fast.
        batches: The batches of an epoch, by its number: always the same for one number, and as many in every epoch.
        loss: The loss of the rows of one batch.
        score: How good the module is on held-out data, larger is better. Called with gradients off.
        checkpoint: Where to keep the training after each round.
        pretrained: Whether the module knows something already, so that its start is among the states to keep.
        told: Called after each round.
        label: What progress is told that this is.
        progress: Told after each batch.
    """
    import torch

    learned = [value for value in module.parameters() if value.requires_grad]
    optimiser = torch.optim.Adam(learned, lr=0.0, fused=True)
    state = TrainingState() if checkpoint is None else checkpoint.load(module, optimiser)
    in_epoch = len(batches(0))
    steps = schedule.epochs * in_epoch
    best = _Best(module, checkpoint)
    if pretrained and state.step == 0:
        state = best.after_round(state, _held_out_score(module, score))
    stopped = state.waited >= schedule.patience or schedule.done(state, steps) >= 1
    todo = iter(()) if stopped else _batches(batches, state.step, in_epoch, steps)
    last = state
    before, started, seed = state.seconds, time.monotonic(), torch.initial_seed()
    with torch.random.fork_rng(devices=[]), threads_for(module):
        for rows in progress(todo, label=label, **_amount(schedule, state, steps)):
            # Every step draws from a seed of its own: a training that was stopped draws the same when it goes on.
            torch.manual_seed((seed + state.step) % 2**63)
            module.train()
            for group in optimiser.param_groups:
                group["lr"] = schedule.rate(state.step, schedule.done(state, steps))
            optimiser.zero_grad(set_to_none=True)
            torch.autograd.backward(loss(rows))
            torch.nn.utils.clip_grad_norm_(module.parameters(), schedule.clip)
            optimiser.step()
            state = replace(state, step=state.step + 1, seconds=before + time.monotonic() - started)
            over = schedule.done(state, steps) >= 1
            if schedule.ends_round(state, last, in_epoch) or over:
                last = state = best.after_round(state, _held_out_score(module, score))
                if checkpoint is not None:
                    checkpoint.save(module, optimiser, state)
                if told is not None:
                    told(state)
                if over or state.waited >= schedule.patience:
                    break
    best.restore()
    module.eval()
    return state


def threads_for(module: torch.nn.Module) -> AbstractContextManager[None]:
    """Return the context in which `module` is trained fastest: one thread for a small network."""
    size = sum(parameter.numel() for parameter in module.parameters())
    return one_thread() if size < SMALL_NETWORK else nullcontext()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: in small networks more cost more than they bring, many times so on a busy machine."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def shuffled_batches(rows: int, batch_size: int, rng: np.random.Generator) -> Callable[[int], Sequence[Rows]]:
    """Return the function that cuts a new order of `rows` rows into batches for each epoch."""
    seed = int(rng.integers(2**62))

    def batches(epoch: int) -> Sequence[Rows]:
        order = np.random.default_rng((seed, epoch)).permutation(rows)
        return np.array_split(order, range(batch_size, rows, batch_size))

    return batches


def _batches(batches: Callable[[int], Sequence[Rows]], done: int, in_epoch: int, steps: int) -> Iterator[Rows]:
    for epoch in range(done // in_epoch, steps // in_epoch):
        # An epoch in the middle of which a training was stopped is drawn again, and what was seen of it is passed by.
        yield from batches(epoch)[max(0, done - epoch * in_epoch) :]


def _amount(schedule: Schedule, state: TrainingState, steps: int) -> dict[str, Any]:
    """Return what progress is told of the work that is left: batches, or seconds where time is what limits it."""
    if schedule.hours is None:
        return {"total": steps - state.step}
    started, told = time.monotonic(), 0

    def seconds(rows: Rows) -> int:
        nonlocal told
        del rows
        fresh = int(time.monotonic() - started) - told
        told += fresh
        return fresh

    return {"total": max(0, round(3600 * schedule.hours - state.seconds)), "weigh": seconds}


def _held_out_score(module: torch.nn.Module, score: Callable[[], float]) -> float:
    import torch

    module.eval()
    with torch.no_grad():
        reached = score()
    if np.isnan(reached):
        raise InvalidInputError("the training went astray: its held-out score is not a number; lower learning_rate")
    return reached


class _Best:
    """The module as it was at its best: in memory, and on disk where there is a checkpoint."""

    def __init__(self, module: torch.nn.Module, checkpoint: Checkpoint | None) -> None:
        self._module, self._checkpoint = module, checkpoint
        self._kept: dict[str, Any] | None = None

    def after_round(self, state: TrainingState, score: float) -> TrainingState:
        if score <= state.best:
            return replace(state, waited=state.waited + 1)
        state = replace(state, best=score, best_step=state.step, waited=0)
        if self._checkpoint is None:
            self._kept = {name: value.detach().clone() for name, value in self._module.state_dict().items()}
        else:
            self._checkpoint.save_best(self._module, state)
        return state

    def restore(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.load_best(self._module)
        elif self._kept is not None:
            self._module.load_state_dict(self._kept)
