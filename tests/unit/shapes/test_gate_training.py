from __future__ import annotations

import numpy as np
import pytest
import torch

from vecveil.bench.plain_loop import PlainGates, plain_classifier
from vecveil.core.errors import InvalidInputError
from vecveil.shapes.gate_training import GateTraining
from vecveil.shapes.learned import Learned

DIMENSIONS, PAIRS = 7, 24


def _training(hidden: tuple[int, ...], *, penalty: float = 0.3, mean: bool = True) -> GateTraining:
    rng = np.random.default_rng(4)
    return GateTraining(
        rng.standard_normal((PAIRS, 2, DIMENSIONS), dtype=np.float32),
        hidden=hidden,
        temperature=0.6,
        penalty=penalty,
        mean=mean,
        rates=(1e-2, 3e-2),
        batch_size=10,
        rng=rng,
    )


def _in_torch(training: GateTraining, hidden: tuple[int, ...]) -> tuple[PlainGates, torch.nn.Sequential]:
    """Return the same gates and the same classifier, in double precision."""
    gates, logits = PlainGates(DIMENSIONS, temperature=0.6).double(), plain_classifier(DIMENSIONS, hidden).double()
    with torch.no_grad():
        for parameter, values in zip(gates.parameters(), training.gates, strict=True):
            parameter.copy_(torch.from_numpy(values.copy()))
        for parameter, values in zip(logits.parameters(), training.classifier.values, strict=True):
            # Layers of PyTorch have a row for each unit.
            parameter.copy_(torch.from_numpy(values.T.copy()))
    return gates, logits


def _loss(
    training: GateTraining, gates: PlainGates, logits: torch.nn.Sequential, pairs: np.ndarray, uniform: np.ndarray
) -> torch.Tensor:
    """Return Algorithm 2's loss."""
    inputs = torch.from_numpy(training._samples[pairs].reshape(-1, DIMENSIONS)).double()
    targets = torch.tensor([1.0, 0.0], dtype=torch.float64).repeat(len(pairs))
    reduction = "mean" if training._mean else "sum"
    masked = inputs * gates.sample(torch.from_numpy(uniform).double())
    told = torch.nn.BCEWithLogitsLoss(reduction=reduction)(logits(masked), targets)
    return torch.as_tensor(told + training._penalty * gates.expected_open())


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("penalty", [0.3, -0.3, 0.0])
@pytest.mark.parametrize("hidden", [(), (5,), (6, 4)])
@pytest.mark.parametrize("size", [10, 3])
def test_the_gradients_are_those_of_the_loss(hidden: tuple[int, ...], penalty: float, mean: bool, size: int) -> None:
    training = _training(hidden, penalty=penalty, mean=mean)
    # Locations far apart: some gates are cut off at 0, some at 1.
    training.gates.log_alpha[:] = np.linspace(-4, 4, DIMENSIONS)
    rng = np.random.default_rng(0)
    pairs, uniform = rng.permutation(PAIRS)[:size], rng.random(DIMENSIONS, dtype=np.float32)
    gates, logits = _in_torch(training, hidden)
    loss = _loss(training, gates, logits, pairs, uniform)
    wanted = torch.autograd.grad(loss, [*logits.parameters(), *gates.parameters()])
    training.find_gradients(pairs, uniform)
    found = [*training.classifier.gradients, *training._gate_numbers.gradients]
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours.T, theirs.numpy(), rtol=2e-4, atol=2e-6)


def test_steps_are_those_of_adam() -> None:
    training = _training((6, 4))
    gates, logits = _in_torch(training, (6, 4))
    optimiser = torch.optim.Adam([{"params": logits.parameters(), "lr": 1e-2}, {"params": gates.parameters()}], lr=3e-2)
    rng = np.random.default_rng(0)
    for _ in range(20):
        pairs, uniform = rng.permutation(PAIRS)[:10], rng.random(DIMENSIONS, dtype=np.float32)
        optimiser.zero_grad()
        _loss(training, gates, logits, pairs, uniform).backward()
        optimiser.step()
        training.step(pairs, uniform)
    found = [*training.classifier.values, *training.gates]
    for ours, theirs in zip(found, [*logits.parameters(), *gates.parameters()], strict=True):
        np.testing.assert_allclose(ours.T, theirs.detach().numpy(), atol=1e-3)


@pytest.mark.parametrize("hidden", [(), (6, 4)])
def test_logits_are_those_behind_the_settled_mask(hidden: tuple[int, ...]) -> None:
    training = _training(hidden)
    training.gates.log_alpha[:] = np.linspace(-4, 4, DIMENSIONS)
    gates, logits = _in_torch(training, hidden)
    vectors = np.random.default_rng(1).standard_normal((9, DIMENSIONS), dtype=np.float32)
    with torch.no_grad():
        expected = logits(torch.from_numpy(vectors).double() * gates.settled())
    np.testing.assert_allclose(training.logits(vectors), expected.numpy(), atol=1e-5)


def test_more_pairs_than_there_is_room_for_are_refused() -> None:
    training = _training((6,))
    with pytest.raises(InvalidInputError, match="a step has room for 10 pairs, got 11"):
        training.step(np.arange(11), np.full(DIMENSIONS, 0.5, np.float32))


def test_means_of_gradients_that_fade_away_end_at_zero() -> None:
    learned = Learned([(3,)], rate=1e-3)
    learned.gradients[0][:] = 1e-3
    learned.step()
    learned.gradients[0][:] = 0
    for _ in range(1000):
        learned.step()
    assert (learned._means[0] == 0).all()


def test_a_classifier_begins_as_one_of_pytorch() -> None:
    training = _training((200, 100))
    weights = training.classifier.values
    for values, sees in zip(weights, (7, 7, 200, 200, 100, 100), strict=True):
        assert np.abs(values).max() <= 1 / np.sqrt(sees)
        if values.size > 50:
            assert values.std() == pytest.approx(1 / np.sqrt(3 * sees), rel=0.2)
    assert [values.shape for values in weights] == [(7, 200), (200,), (200, 100), (100,), (100, 1), (1,)]
