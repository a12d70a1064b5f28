from __future__ import annotations

import numpy as np
import torch

from vecveil.bench.plain_loop import plain_loop
from vecveil.shapes.hard_concrete import HardConcrete
from vecveil.testing.shapes import planted_pairs


def test_our_masks_are_those_of_the_plain_loop_but_for_chance() -> None:
    pairs = planted_pairs(dimensions=40, pairs=400, moved=4)
    settings = HardConcrete(
        epochs=30,
        learning_rate=3e-3,
        gate_learning_rate=3e-3,
        loss="sum",
        penalty=30.0,
        standardise=False,
        held_out=0.0,
        normalise="level",
        floor=1e-6,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        plain = [plain_loop(pairs, settings).detach().numpy() for _ in range(2)]
    ours = [settings.fit(pairs, np.random.default_rng(seed)) for seed in range(2)]
    assert abs(np.mean([one.facts["mean_gate"] for one in ours]) - np.mean(plain)) < 0.03
    alike = np.corrcoef(*plain)[0, 1]
    for one in ours:
        for mask in plain:
            assert np.corrcoef(one.shape.variances, mask)[0, 1] > alike - 0.05
    # Where the loop has learned nothing, all of this would hold as well.
    assert all(set(np.argsort(mask)[-4:]) == {0, 1, 2, 3} for mask in plain)
