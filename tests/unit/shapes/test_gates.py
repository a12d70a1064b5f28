from __future__ import annotations

import numpy as np
import pytest

from vecveil.shapes.gates import Gates, sigmoid


def _gates(*log_alpha: float, temperature: float = 0.5) -> Gates:
    return Gates(np.array(log_alpha, np.float32), np.full(len(log_alpha), np.log(temperature), np.float32))


def test_gates_follow_the_hard_concrete_distribution() -> None:
    """The chance of a closed gate is σ(β·log(-γ/ξ) - log α), which is what the penalty counts."""
    gates = _gates(*[0.4] * 20_000)
    draws = gates.sample(np.random.default_rng(0).random(20_000, dtype=np.float32)).values
    expected = float(gates.chance_open()[0])
    assert (draws > 0).mean() == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 20_000))
    assert draws.min() == 0
    assert draws.max() == 1


def test_settled_gates_reach_zero_and_one() -> None:
    assert _gates(-3.0, 0.0, 3.0).settled().tolist() == pytest.approx([0.0, 0.5, 1.0])


def test_uniform_numbers_at_their_ends_make_gates_all_the_same() -> None:
    mask = _gates(0.0, 0.0).sample(np.array([0.0, 1.0], np.float32))
    assert mask.values.tolist() == [0.0, 1.0]
    assert np.isfinite(mask.place).all()


def test_a_sigmoid_has_no_end_in_either_direction() -> None:
    values = np.array([-1e30, -100.0, 0.0, 100.0, 1e30], np.float32)
    np.testing.assert_allclose(sigmoid(values), [0, 0, 0.5, 1, 1], atol=1e-30)
    assert sigmoid(values).dtype == np.float32
