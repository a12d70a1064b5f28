from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from vecveil.attacks.checkpoint import Checkpoint, TrainingState
from vecveil.attacks.training import Schedule, one_thread, shuffle_batches, train
from vecveil.core.errors import InvalidInputError

VECTORS = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
TARGETS = VECTORS @ torch.tensor([[1.0], [-2.0], [0.5]])


def linear() -> torch.nn.Linear:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.nn.Linear(3, 1)


def run(module: torch.nn.Linear, schedule: Schedule, **more: Any) -> TrainingState:
    def loss(rows: Any) -> torch.Tensor:
        return torch.nn.functional.mse_loss(module(VECTORS[rows]), TARGETS[rows])

    return train(
        module,
        schedule=schedule,
        batches=shuffle_batches(40, 8, np.random.default_rng(0)),
        loss=loss,
        score=more.pop("score", lambda: -float(loss(np.arange(40)))),
        **more,
    )


def test_training_learns_and_keeps_its_best() -> None:
    module = linear()
    state = run(module, Schedule(epochs=60, learning_rate=0.1, patience=60))
    assert -state.best < 1e-3
    assert module.weight.flatten().tolist() == pytest.approx([1.0, -2.0, 0.5], abs=0.05)


def test_training_stops_when_it_no_longer_improves() -> None:
    state = run(linear(), Schedule(epochs=60, learning_rate=0.1, patience=2), score=lambda: 0.0)
    assert state.step == 3 * 5


def test_what_is_known_before_is_kept_where_training_only_spoils_it() -> None:
    module = linear()
    start = module.weight.detach().clone()
    scores = iter(range(0, -100, -1))
    run(module, Schedule(epochs=9, learning_rate=0.1, patience=3), score=lambda: float(next(scores)), pretrained=True)
    assert torch.equal(module.weight, start)


def test_time_ends_a_training_and_counts_over_all_its_sittings(tmp_path: Path) -> None:
    schedule = Schedule(epochs=10**6, learning_rate=0.1, patience=10**6, hours=0.2 / 3600)
    checkpoint = Checkpoint(folder=tmp_path, key="timed")
    first = run(linear(), schedule, checkpoint=checkpoint)
    again = run(linear(), schedule, checkpoint=checkpoint)
    assert first.seconds >= 0.2
    assert again == first


def test_progress_counts_seconds_where_time_is_limited() -> None:
    told: dict[str, Any] = {}

    def progress(items: Any, *, label: str, total: int, weigh: Any = None) -> Any:
        told.update(label=label, total=total, weigh=weigh)
        yield from items

    schedule = Schedule(epochs=10**6, learning_rate=0.1, patience=10**6, hours=1.6 / 3600, round_seconds=0.1)
    rounds: list[TrainingState] = []
    run(linear(), schedule, progress=progress, label="timed", on_round=rounds.append)
    assert told["total"] == 2
    assert told["weigh"](None) >= 1
    assert len(rounds) > 4


def test_the_step_warms_up_and_decays() -> None:
    schedule = Schedule(epochs=1, learning_rate=1.0, patience=1, warmup=9, decay=True)
    assert schedule.rate(0, 0.0) == pytest.approx(0.1)
    assert schedule.rate(50, 0.5) == pytest.approx(0.505)
    assert schedule.rate(100, 1.0) == pytest.approx(0.01)


def test_a_training_that_diverged_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="held-out score is not a number; lower learning_rate"):
        run(linear(), Schedule(epochs=1, learning_rate=0.1), score=lambda: float("nan"))


def dropping() -> torch.nn.Sequential:
    """Return a network that draws random numbers in every step."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))


def stopping_before(step: int) -> Any:
    def progress(items: Any, **_: Any) -> Iterator[Any]:
        for number, item in enumerate(items):
            if number == step:
                raise KeyboardInterrupt
            yield item

    return progress


@pytest.mark.parametrize("stop", [1, 3, 7, 13, 19])
@pytest.mark.parametrize("round_seconds", [None, 1e-9])
def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(
    tmp_path: Path, stop: int, round_seconds: float | None
) -> None:
    """Epochs have 5 steps: with rounds of one step it goes on in the middle of an epoch."""
    schedule = Schedule(epochs=4, learning_rate=0.05, patience=99, round_seconds=round_seconds, warmup=6, decay=True)
    whole, resumed = dropping(), dropping()
    expected = seeded_run(whole, schedule)
    checkpoint = Checkpoint(folder=tmp_path / "kept", key="stopped")
    with pytest.raises(KeyboardInterrupt):
        seeded_run(resumed, schedule, checkpoint=checkpoint, progress=stopping_before(stop))
    resumed = dropping()
    found = seeded_run(resumed, schedule, checkpoint=checkpoint)
    assert (found.step, found.best, found.best_step) == (expected.step, expected.best, expected.best_step)
    for name, value in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], value)


def seeded_run(module: Any, schedule: Schedule, **more: Any) -> TrainingState:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return run(module, schedule, **more)


def test_a_training_that_is_over_takes_no_further_step(tmp_path: Path) -> None:
    schedule, checkpoint = Schedule(epochs=2, learning_rate=0.1, patience=9), Checkpoint(folder=tmp_path, key="over")
    first, second = linear(), linear()
    state = run(first, schedule, checkpoint=checkpoint)
    assert run(second, schedule, checkpoint=checkpoint, progress=stopping_before(0)) == state
    assert torch.equal(first.weight, second.weight)


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_weights_of_the_best_round_are_restored(tmp_path: Path, on_disk: bool) -> None:
    module, seen = linear(), []
    scores = iter([1.0, 5.0, 2.0, 5.0, 3.0, 4.0])

    def score() -> float:
        seen.append(module.weight.detach().clone())
        return next(scores)

    checkpoint = Checkpoint(folder=tmp_path, key="best") if on_disk else None
    state = run(module, Schedule(epochs=6, learning_rate=0.1, patience=6), score=score, checkpoint=checkpoint)
    assert (state.best, state.best_step, state.step, state.waited) == (5.0, 10, 30, 4)
    assert torch.equal(module.weight, seen[1])
    assert not module.training


def test_rounds_may_be_shorter_than_epochs() -> None:
    rounds: list[TrainingState] = []
    run(linear(), Schedule(epochs=2, learning_rate=0.1, patience=99, round_seconds=1e-9), on_round=rounds.append)
    assert [state.step for state in rounds] == list(range(1, 11))


def test_held_out_data_is_looked_at_without_dropout_and_gradients() -> None:
    module, looks = dropping(), []

    def score() -> float:
        looks.append((module.training, torch.is_grad_enabled()))
        return 0.0

    run(module, Schedule(epochs=1, learning_rate=0.1, patience=1), score=score)
    assert looks == [(False, False)]


def test_training_draws_nothing_from_the_callers_random_numbers() -> None:
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    run(dropping(), Schedule(epochs=1, learning_rate=0.1, patience=1))
    assert torch.equal(torch.rand(1), expected)


def test_frozen_weights_stay_as_they_are(tmp_path: Path) -> None:
    module = linear()
    module.bias.requires_grad_(False)
    start = module.bias.detach().clone()
    schedule, checkpoint = Schedule(epochs=2, learning_rate=0.1, patience=9), Checkpoint(folder=tmp_path, key="frozen")
    with pytest.raises(KeyboardInterrupt):
        run(module, schedule, checkpoint=checkpoint, progress=stopping_before(6))
    run(module, schedule, checkpoint=checkpoint)
    assert torch.equal(module.bias, start)


def test_the_step_is_constant_unless_asked_otherwise() -> None:
    schedule = Schedule(epochs=1, learning_rate=0.3, patience=1)
    assert {schedule.rate(step, step / 9) for step in range(10)} == {0.3}


def test_every_epoch_has_every_row_once_in_a_new_order() -> None:
    batches = shuffle_batches(10, 4, np.random.default_rng(0))
    first, second = batches(0), batches(1)
    assert [len(batch) for batch in first] == [4, 4, 2]
    assert sorted(np.concatenate(first)) == sorted(np.concatenate(second)) == [*range(10)]
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()
    assert [batch.tolist() for batch in batches(0)] == [batch.tolist() for batch in first]


def test_one_thread_is_for_a_while() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    torch.set_num_threads(threads)
