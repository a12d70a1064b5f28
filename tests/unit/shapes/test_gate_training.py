from __future__ import annotations

import pytest
import torch

from vecveil.shapes.gate_training import GateStep
from vecveil.shapes.gates import Gates, classifier, uniform_like

DIMENSIONS = 7


def _by_autograd(
    gates: Gates, logits: torch.nn.Sequential, data: tuple[torch.Tensor, torch.Tensor], *, penalty: float, mean: bool
) -> list[torch.Tensor]:
    """Return the gradients of Algorithm 2's loss, as torch works them out."""
    inputs, targets = data
    loss = torch.nn.BCEWithLogitsLoss(reduction="mean" if mean else "sum")(logits(inputs * gates.sample()), targets)
    loss = loss + penalty * gates.expected_open()
    return list(torch.autograd.grad(loss, [*logits.parameters(), *gates.parameters()]))


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("penalty", [0.3, -0.3, 0.0])
@pytest.mark.parametrize("hidden", [(), (5,), (6, 4)])
def test_the_gradients_are_those_of_the_loss(hidden: tuple[int, ...], penalty: float, mean: bool) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        gates, logits = Gates(DIMENSIONS, temperature=0.6).double(), classifier(DIMENSIONS, hidden).double()
        # Locations far apart: some gates are cut off at 0, some at 1.
        gates.log_alpha.data = torch.linspace(-4, 4, DIMENSIONS, dtype=torch.float64)
        inputs = torch.randn(20, DIMENSIONS, dtype=torch.float64)
        targets = (torch.rand(20) > 0.5).double()
        state = torch.get_rng_state()
        wanted = _by_autograd(gates, logits, (inputs, targets), penalty=penalty, mean=mean)
        torch.set_rng_state(state)
        layers = tuple(layer for layer in logits if isinstance(layer, torch.nn.Linear))
        step = GateStep(gates=gates, layers=layers, penalty=penalty, mean=mean)
        step(inputs, targets, uniform_like(gates.log_alpha))
    found = [parameter.grad for parameter in [*logits.parameters(), *gates.parameters()]]
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours is not None
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)
