"""The training loop of every attack that is a network."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vecveil.attacks.checkpoint import Checkpoint, TrainingState
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.core.progress import Progress, silent

if TYPE_CHECKING:
    import torch

Rows = NDArray[np.intp]

LONGEST_GRADIENT = 1.0

SMALL_NETWORK = 2_000_000
"""Parameters below which a second thread costs more than it brings."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and how fast a network learns. A round ends with a look at held-out data.

    Attributes:
        epochs: Most passes over the training data.
        learning_rate: Adam's step after warming up.
        patience: Rounds without improvement after which training stops; None for any number.
        round_seconds: Length of a round; a whole epoch where None.
        warmup: Batches over which the step grows from zero.
        decay: Whether the step falls along a half cosine, to a hundredth at the end of the last epoch.
        hours: Most time in training, over all runs; the step then falls with the time that is used up.
    """

    epochs: int
    learning_rate: float
    patience: int | None = None
    round_seconds: float | None = None
    warmup: int = 0
    decay: bool = False
    hours: float | None = None

    def rate(self, step: int, done: float) -> float:
        """Return Adam's step for batch `step`, after the share `done` of the training."""
        warm = min(1.0, (step + 1) / (self.warmup + 1))
        fall = 0.01 + 0.99 * (1 + np.cos(np.pi * min(1.0, done))) / 2 if self.decay else 1.0
        return float(self.learning_rate * warm * fall)

    def share_done(self, state: TrainingState, steps: int) -> float:
        """Return the share of the batches or of the time that is used up, whichever is more."""
        by_time = 0.0 if self.hours is None else state.seconds / (3600 * self.hours)
        return max(state.step / steps, by_time)

    def is_over(self, state: TrainingState, steps: int) -> bool:
        """Return whether training stops in this state."""
        waited_out = self.patience is not None and state.waited >= self.patience
        return waited_out or self.share_done(state, steps) >= 1

    def ends_round(self, state: TrainingState, last: TrainingState, in_epoch: int) -> bool:
        """Return whether a round ends in this state, where the one before ended in the state `last`."""
        if self.round_seconds is not None:
            return state.seconds - last.seconds >= self.round_seconds
        return state.step % in_epoch == 0


def train(
    module: torch.nn.Module,
    *,
    schedule: Schedule,
    batches: Callable[[int], Sequence[Rows]],
    loss: Callable[[Rows], torch.Tensor],
    score: Callable[[], float],
    checkpoint: Checkpoint | None = None,
    pretrained: bool = False,
    on_round: Callable[[TrainingState], None] | None = None,
    label: str = "training",
    progress: Progress = silent,
) -> TrainingState:
    """Train `module` in place until it stops improving, and leave it as it was at its best.

    Args:
        module: The network.
        schedule: How long and how fast it learns.
        batches: The batches of an epoch, by its number: always the same for one number, and as many in every epoch.
        loss: The loss of one batch.
        score: The score on held-out data, larger is better. Called with gradients off.
        checkpoint: Where to save the training after each round.
        pretrained: Whether the module's start may be its best.
        on_round: Called after each round.
        label: Name of the work, for progress.
        progress: Reports each batch.
    """
    import torch

    learned = [value for value in module.parameters() if value.requires_grad]
    optimizer = torch.optim.Adam(learned, lr=0.0, fused=True)
    state = TrainingState() if checkpoint is None else checkpoint.load(module, optimizer)
    in_epoch = len(batches(0))
    steps = schedule.epochs * in_epoch
    best = _Best(module, checkpoint, score)
    if pretrained and state.step == 0:
        state = best.update(state)
    todo = iter(()) if schedule.is_over(state, steps) else _remaining_batches(batches, state.step, in_epoch, steps)
    last = state
    before, started, seed = state.seconds, time.monotonic(), torch.initial_seed()
    with torch.random.fork_rng(devices=[]), limit_threads(module):
        for rows in progress(todo, label=label, **_measure_progress(schedule, state, steps)):
            # Every step draws from a seed of its own, so that a resumed training draws the same numbers.
            torch.manual_seed((seed + state.step) % 2**63)
            module.train()
            for group in optimizer.param_groups:
                group["lr"] = schedule.rate(state.step, schedule.share_done(state, steps))
            optimizer.zero_grad(set_to_none=True)
            torch.autograd.backward(loss(rows))
            torch.nn.utils.clip_grad_norm_(module.parameters(), LONGEST_GRADIENT)
            optimizer.step()
            state = replace(state, step=state.step + 1, seconds=before + time.monotonic() - started)
            if schedule.ends_round(state, last, in_epoch) or schedule.is_over(state, steps):
                last = state = best.update(state)
                if checkpoint is not None:
                    checkpoint.save(module, optimizer, state)
                if on_round is not None:
                    on_round(state)
                if schedule.is_over(state, steps):
                    break
    best.restore()
    return state


@contextmanager
def seed_torch(rng: np.random.Generator, *, library: str = "torch") -> Iterator[None]:
    """Let torch, and `library` on top of it, draw from a seed of `rng`; leave its own generator as it was."""
    with needs_extra(library, "local"):
        import torch

        import_module(library)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**62)))
        yield


def limit_threads(module: torch.nn.Module) -> AbstractContextManager[None]:
    """Return the context in which `module` is fastest: one thread for a small network."""
    size = sum(parameter.numel() for parameter in module.parameters())
    return one_thread() if size < SMALL_NETWORK else nullcontext()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: small networks lose time with more, much of it on a busy machine."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def shuffle_batches(rows: int, batch_size: int, rng: np.random.Generator) -> Callable[[int], Sequence[Rows]]:
    """Return the function that cuts a new order of `rows` rows into batches for each epoch."""
    seed = int(rng.integers(2**62))

    def cut_epoch(epoch: int) -> Sequence[Rows]:
        order = np.random.default_rng((seed, epoch)).permutation(rows)
        return np.array_split(order, range(batch_size, rows, batch_size))

    return cut_epoch


def to_tensor(values: NDArray[Any]) -> torch.Tensor:
    """Return a copy of `values` as a float32 tensor."""
    import torch

    # Without a copy torch reads no array backwards, and warns of one that can't be written to.
    return torch.from_numpy(np.array(values, dtype=np.float32, order="C"))


def _remaining_batches(
    batches: Callable[[int], Sequence[Rows]], done: int, in_epoch: int, steps: int
) -> Iterator[Rows]:
    for epoch in range(done // in_epoch, steps // in_epoch):
        # Of an epoch in which a training was stopped, the first batches are skipped.
        yield from batches(epoch)[max(0, done - epoch * in_epoch) :]


def _measure_progress(schedule: Schedule, state: TrainingState, steps: int) -> dict[str, Any]:
    """Return the unit of progress: batches, or seconds where time limits the training."""
    if schedule.hours is None:
        return {"total": steps - state.step}
    started, reported = time.monotonic(), 0

    def count_seconds(rows: Rows) -> int:
        nonlocal reported
        del rows
        fresh = int(time.monotonic() - started) - reported
        reported += fresh
        return fresh

    return {"total": max(0, round(3600 * schedule.hours - state.seconds)), "weigh": count_seconds}


class _Best:
    """The module as it was at its best: in memory, or on disk where there is a checkpoint."""

    def __init__(self, module: torch.nn.Module, checkpoint: Checkpoint | None, score: Callable[[], float]) -> None:
        self._module, self._checkpoint, self._score = module, checkpoint, score
        self._weights: dict[str, Any] = {}

    def update(self, state: TrainingState) -> TrainingState:
        """Score the module on held-out data, and keep it if it is the best so far."""
        import torch

        self._module.eval()
        with torch.no_grad():
            score = self._score()
        if np.isnan(score):
            raise InvalidInputError("the training diverged: its held-out score is not a number; lower learning_rate")
        if score <= state.best:
            return replace(state, waited=state.waited + 1)
        state = replace(state, best=score, best_step=state.step, waited=0)
        if self._checkpoint is None:
            self._weights = {name: value.detach().clone() for name, value in self._module.state_dict().items()}
        else:
            self._checkpoint.save_best(self._module, state)
        return state

    def restore(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.load_best(self._module)
        elif self._weights:
            self._module.load_state_dict(self._weights)
        self._module.eval()
