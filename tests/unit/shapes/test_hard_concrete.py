"""The mask learner, held against Algorithm 2 and equations 1 to 5 of the paper."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import torch

from vecveil.core.errors import InvalidInputError, MissingExtraError, VecveilWarning
from vecveil.core.progress import silent
from vecveil.shapes import ContrastPairs, Evidence, FittedShape, build_learner
from vecveil.shapes.hard_concrete import Gates, HardConcrete
from vecveil.testing.shapes import planted_pairs

ALPHAS = (-4.0, -1.0, 0.0, 0.7, 4.0)


# Most masks here are learned in a few steps, to be quick.
pytestmark = pytest.mark.filterwarnings("ignore:no gate of the mask can close")


def _gates(*log_alpha: float, temperature: float = 0.5) -> Gates:
    gates = Gates(len(log_alpha), temperature)
    with torch.no_grad():
        gates.log_alpha.copy_(torch.tensor(log_alpha))
    return gates


def _sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(values)))


def _fit(pairs: ContrastPairs, *, preset: str | None = None, seed: int = 0, **settings: Any) -> FittedShape:
    learner = build_learner("hard-concrete", preset=preset, settings=settings)
    return learner.fit(Evidence(pairs), np.random.default_rng(seed))


def test_gates_start_half_open_at_their_temperature() -> None:
    gates = Gates(3, 0.4)
    assert gates.log_alpha.tolist() == [0, 0, 0]
    assert gates.log_beta.exp().tolist() == pytest.approx([0.4] * 3)
    assert gates.log_alpha.requires_grad
    assert gates.log_beta.requires_grad


@pytest.mark.parametrize("temperature", [0.3, 2 / 3, 1.5])
def test_a_mask_in_training_is_equation_1(temperature: float) -> None:
    for uniform in (0.01, 0.2, 0.5, 0.99):
        share = _sigmoid((np.log(uniform / (1 - uniform)) + np.array(ALPHAS)) / temperature)
        expected = np.minimum(1, np.maximum(0, share * (1.1 - -0.1) + -0.1))
        mask = _gates(*ALPHAS, temperature=temperature).sample(torch.full((len(ALPHAS),), uniform))
        assert mask.tolist() == pytest.approx(expected.tolist(), abs=1e-5)


def test_a_mask_after_training_is_equation_2() -> None:
    expected = np.minimum(1, np.maximum(0, _sigmoid(ALPHAS) * 1.2 - 0.1))
    for temperature in (0.3, 1.5):
        gates = _gates(*ALPHAS, temperature=temperature)
        assert gates.after_training().tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert _gates(-3.0, 0.0, 3.0).after_training().tolist() == [0.0, pytest.approx(0.5), 1.0]


def test_a_mask_after_training_is_not_random() -> None:
    gates = _gates(*ALPHAS)
    assert torch.equal(gates.after_training(), gates.after_training())
    assert not torch.equal(gates.sample(), gates.sample())


def test_the_penalty_counts_open_gates_as_equation_4_does() -> None:
    betas = np.array([0.2, 0.5, 0.9, 1.5, 2.0])
    gates = _gates(*ALPHAS)
    with torch.no_grad():
        gates.log_beta.copy_(torch.from_numpy(np.log(betas)))
    expected = _sigmoid(np.array(ALPHAS) - betas * np.log(0.1 / 1.1)).mean()
    assert float(gates.expected_open().detach()) == pytest.approx(expected)


def test_the_penalty_is_the_chance_that_a_gate_is_open() -> None:
    """What the penalty counts is what samples of equation 1 do."""
    gates = _gates(*[0.4] * 20_000)
    draws = gates.sample(torch.from_numpy(np.random.default_rng(0).random(20_000, dtype=np.float32))).detach().numpy()
    expected = float(gates.expected_open().detach())
    assert (draws > 0).mean() == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 20_000))
    assert draws.min() == 0
    assert draws.max() == 1


def test_the_penalty_pulls_gates_towards_closing() -> None:
    gates = _gates(*ALPHAS)
    gates.expected_open().backward()
    assert gates.log_alpha.grad is not None
    assert (gates.log_alpha.grad > 0).all()


def test_uniform_numbers_at_their_ends_make_gates_and_gradients_all_the_same() -> None:
    gates = _gates(0.0, 0.0)
    mask = gates.sample(torch.tensor([0.0, 1.0]))
    mask.sum().backward()
    assert mask.tolist() == [0.0, 1.0]
    for parameter in (gates.log_alpha, gates.log_beta):
        assert parameter.grad is not None
        assert torch.isfinite(parameter.grad).all()


def test_samples_pass_gradients_to_both_parameters_of_a_gate() -> None:
    gates = _gates(0.3, -0.3)
    gates.sample(torch.tensor([0.4, 0.6])).sum().backward()
    for parameter in (gates.log_alpha, gates.log_beta):
        assert parameter.grad is not None
        assert (parameter.grad != 0).all()


@pytest.mark.parametrize(("loss", "sign"), [("mean", 1), ("sum", 1), ("mean", -1)])
def test_training_is_algorithm_2(loss: Any, sign: Any) -> None:
    """One step at a time, in double precision and with other code: NumPy for the data, the paper for the loss."""
    rng = np.random.default_rng(3)
    pairs = ContrastPairs(*rng.standard_normal((2, 10, 4)).astype(np.float32))
    learner = HardConcrete(
        penalty=0.3, penalty_sign=sign, loss=loss, standardize=False, epochs=3, batch_size=4, hidden=(5,), held_out=0.0
    )
    kept = np.arange(10)
    found, _ = learner._train(pairs, kept, kept[:0], np.random.default_rng(0), silent)

    numbers = np.random.default_rng(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(numbers.integers(2**63)))
        layers = [torch.nn.Linear(4, 5), torch.nn.Linear(5, 1)]
        log_alpha = torch.zeros(4, dtype=torch.float64, requires_grad=True)
        log_beta = torch.full((4,), np.log(2 / 3), dtype=torch.float64, requires_grad=True)
        theta = [parameter for layer in layers for parameter in layer.double().parameters()]
        optimizer = torch.optim.Adam([{"params": theta}, {"params": [log_alpha, log_beta], "lr": 5e-2}], lr=1e-3)
        for _ in range(3):
            order = numbers.permutation(kept)
            for batch in (order[:4], order[4:8], order[8:]):
                uniform = torch.rand(4).double()
                share = torch.sigmoid((torch.log(uniform / (1 - uniform)) + log_alpha) / log_beta.exp())
                mask = torch.clamp(share * 1.2 - 0.1, 0, 1)
                chances = []
                for side in (pairs.with_concept, pairs.without_concept):
                    hidden = torch.relu(layers[0](torch.from_numpy(side[batch]).double() * mask))
                    chances.append(torch.sigmoid(layers[1](hidden))[:, 0])
                total = -torch.log(chances[0]).sum() - torch.log(1 - chances[1]).sum()
                classified = total / (2 * len(batch)) if loss == "mean" else total
                regularized = torch.sigmoid(log_alpha - log_beta.exp() * np.log(0.1 / 1.1)).mean()
                optimizer.zero_grad()
                (classified + sign * 0.3 * regularized).backward()
                optimizer.step()
    expected = torch.clamp(torch.sigmoid(log_alpha) * 1.2 - 0.1, 0, 1).detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.ptp(expected) > 1e-3


def test_the_working_preset_closes_gates_and_finds_planted_dimensions() -> None:
    # No classifier could be right more often than in 86% of these; 400 held-out cases tell that from 80%.
    fitted = _fit(planted_pairs(dimensions=40, pairs=800, moved=4), preset="working", held_out=0.25)
    assert fitted.facts["closed_gates"] > 0.5
    assert fitted.facts["held_out_accuracy"] > 0.8
    assert fitted.facts["held_out_pairs"] == 200
    variances = fitted.shape.variances
    assert variances[:4].min() == variances.max() > 4 * variances[4:].mean()


def test_the_working_preset_is_the_default() -> None:
    assert build_learner("hard-concrete", preset="working") == HardConcrete()


def test_the_papers_preset_has_the_printed_settings_with_a_penalty_that_closes_gates() -> None:
    settings = vars(build_learner("hard-concrete", preset="paper"))
    printed = {
        "penalty": 1e-3,
        "learning_rate": 1e-4,
        "gate_learning_rate": 1e-4,
        "loss": "sum",
        "standardize": False,
        "epochs": 100,
        "batch_size": 64,
        "hidden": (256, 128),
        "normalize": "trace",
        "floor": 1e-6,
    }
    assert settings | printed == settings
    assert settings["penalty_sign"] == 1


def test_the_papers_settings_close_no_gate_of_a_few_hundred_pairs_and_say_so() -> None:
    with pytest.warns(VecveilWarning, match=r"no gate .* 23,979 steps .* 400 pairs give 700, .* 15,360"):
        fitted = _fit(planted_pairs(dimensions=40, pairs=400, moved=4), preset="paper")
    assert fitted.facts["closed_gates"] == 0
    assert fitted.facts["open_gates"] == 0
    assert "held_out_accuracy" not in fitted.facts


def test_gates_that_start_near_their_end_need_no_more_pairs() -> None:
    fitted = _fit(planted_pairs(dimensions=40, pairs=400, moved=4), preset="paper", initial=-2.38)
    assert fitted.facts["closed_gates"] > 0


def test_a_stronger_penalty_closes_more_gates() -> None:
    pairs = planted_pairs(dimensions=40, pairs=200, moved=4)
    means = [_fit(pairs, penalty=penalty, epochs=40).facts["mean_gate"] for penalty in (0.01, 0.1, 1.0)]
    assert means[0] > means[1] > means[2]


def test_the_printed_sign_rewards_open_gates() -> None:
    pairs = planted_pairs(dimensions=40, pairs=200, moved=4)
    assert _fit(pairs, penalty=1.0, epochs=40, penalty_sign=-1).facts["mean_gate"] > 0.9


def test_gates_become_variances_above_the_floor_with_the_trace_of_the_identity() -> None:
    pairs = planted_pairs(dimensions=40, pairs=200, moved=4)
    variances = _fit(pairs, penalty=1.0, epochs=40, floor=0.05).shape.variances
    assert variances.sum() == pytest.approx(40)
    assert variances.min() == pytest.approx(0.05)


def test_standardizing_brings_dimensions_of_any_scale_to_equal_terms() -> None:
    pairs = planted_pairs(dimensions=12, pairs=100, moved=3)
    scale = np.geomspace(1e-3, 1e3, 12).astype(np.float32)
    scaled = ContrastPairs(pairs.with_concept * scale, pairs.without_concept * scale)
    first, second = (_fit(one, epochs=5).shape.variances for one in (pairs, scaled))
    np.testing.assert_allclose(first, second, rtol=1e-3)


def test_a_dimension_that_never_moves_is_no_obstacle() -> None:
    pairs = planted_pairs(dimensions=8, pairs=20, moved=2)
    with_concept, without = (side.copy() for side in (pairs.with_concept, pairs.without_concept))
    with_concept[:, 7] = without[:, 7] = 3
    assert np.isfinite(_fit(ContrastPairs(with_concept, without), epochs=2, held_out=0.0).shape.variances).all()


def test_a_mask_is_the_same_again_from_the_same_seed_and_another_from_another() -> None:
    pairs = planted_pairs(dimensions=8, pairs=16, moved=2)
    first, again, other = (_fit(pairs, seed=seed, epochs=2, held_out=0.0).shape.variances for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_learning_leaves_torchs_own_generator_alone() -> None:
    pairs = planted_pairs(dimensions=8, pairs=16, moved=2)
    before = torch.random.get_rng_state()
    _fit(pairs, epochs=1, held_out=0.0)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_batch_may_be_larger_than_all_pairs() -> None:
    pairs = planted_pairs(dimensions=8, pairs=16, moved=2)
    assert _fit(pairs, epochs=1, held_out=0.0, batch_size=10**12).shape.dimensions == 8


def test_a_mask_that_does_not_tell_the_concept_is_warned_of() -> None:
    rng = np.random.default_rng(0)
    pairs = ContrastPairs(rng.standard_normal((80, 8)), rng.standard_normal((80, 8)))
    with pytest.warns(VecveilWarning, match=r"in \d\d% of 80 held-out cases, and 50% is chance"):
        _fit(pairs, epochs=2, held_out=0.5)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"vecveil\[local\]"):
        _fit(planted_pairs(dimensions=8, pairs=16, moved=2))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": -1.0}, "penalty must be"),
        ({"penalty_sign": 0}, "penalty_sign must be 1 or -1, got 0"),
        ({"loss": "men"}, "did you mean 'mean'"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1, got 0"),
        ({"hidden": 256}, "hidden must be a list of widths, got 256"),
        ({"hidden": (256, 0)}, "each width of hidden must be a whole number of at least 1, got 0"),
        ({"standardize": 1}, "standardize must be true or false, got 1"),
        ({"temperature": 0.0}, "temperature must be"),
        ({"held_out": 1.0}, "held_out must be"),
        ({"normalize": "tracee"}, "did you mean 'trace'"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        build_learner("hard-concrete", settings=settings)


def test_a_mask_needs_something_to_learn_from() -> None:
    with pytest.raises(InvalidInputError, match=r"held_out 0\.99 leaves 0 of 10 pairs"):
        _fit(planted_pairs(dimensions=8, pairs=10, moved=2), held_out=0.99)
