from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.shapes import build_learner
from vecveil.testing.shapes import planted_pairs


def test_the_working_preset_closes_gates_and_finds_planted_dimensions() -> None:
    pairs = planted_pairs(dimensions=40, pairs=400, moved=4)
    fitted = build_learner("hard-concrete", preset="working").fit(pairs, np.random.default_rng(0))
    assert fitted.facts["closed_gates"] > 0.5
    assert fitted.facts["held_out_accuracy"] > 0.8
    assert set(np.argsort(fitted.shape.variances)[-4:]) == {0, 1, 2, 3}


def test_the_papers_settings_close_no_gate() -> None:
    pairs = planted_pairs(dimensions=40, pairs=400, moved=4)
    facts = build_learner("hard-concrete", preset="paper").fit(pairs, np.random.default_rng(0)).facts
    assert facts["closed_gates"] == 0
    assert facts["open_gates"] == 0


def test_a_stronger_penalty_closes_more_gates() -> None:
    pairs = planted_pairs(dimensions=40, pairs=200, moved=4)
    means = [
        build_learner("hard-concrete", settings={"penalty": penalty, "epochs": 40})
        .fit(pairs, np.random.default_rng(0))
        .facts["mean_gate"]
        for penalty in (0.01, 0.1, 1.0)
    ]
    assert means[0] > means[1] > means[2]


def test_the_printed_sign_rewards_open_gates() -> None:
    pairs = planted_pairs(dimensions=40, pairs=200, moved=4)
    settings = {"penalty": 1.0, "epochs": 40, "penalty_sign": -1}
    facts = build_learner("hard-concrete", settings=settings).fit(pairs, np.random.default_rng(0)).facts
    assert facts["mean_gate"] > 0.9


def test_a_mask_is_the_same_again_from_the_same_seed_and_another_from_another() -> None:
    pairs = planted_pairs(dimensions=8, pairs=16, moved=2)
    learner = build_learner("hard-concrete", settings={"epochs": 2, "held_out": 0.0})
    first, again, other = (learner.fit(pairs, np.random.default_rng(seed)).shape.variances for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_batch_may_be_larger_than_all_pairs() -> None:
    pairs = planted_pairs(dimensions=8, pairs=16, moved=2)
    settings = {"epochs": 1, "held_out": 0.0, "batch_size": 10**12}
    assert build_learner("hard-concrete", settings=settings).fit(pairs, np.random.default_rng(0)).shape.dimensions == 8


def test_a_mask_is_learned_without_torch() -> None:
    code = """
import sys
sys.modules["torch"] = None
import numpy as np
from vecveil.shapes import ContrastPairs, build_learner
vectors = np.random.default_rng(0).standard_normal((40, 6))
learner = build_learner("hard-concrete", settings={"epochs": 2, "held_out": 0.0})
print(learner.fit(ContrastPairs(vectors, vectors + 1), np.random.default_rng(0)).shape.dimensions)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "6\n", done.stderr


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": -1.0}, "penalty must be"),
        ({"penalty_sign": 0}, "penalty_sign must be 1 or -1, got 0"),
        ({"loss": "men"}, "did you mean 'mean'"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1, got 0"),
        ({"held_out": 1.0}, "held_out must be"),
        ({"normalise": "tracee"}, "did you mean 'trace'"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        build_learner("hard-concrete", settings=settings)


def test_unknown_presets_and_settings_are_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        build_learner("hard-concrete", preset="papr")
    with pytest.raises(UnknownNameError, match="did you mean 'penalty'"):
        build_learner("hard-concrete", settings={"penalt": 1})
    with pytest.raises(InvalidInputError, match="has no presets"):
        build_learner("uniform", preset="paper")


def test_a_mask_needs_something_to_learn_from() -> None:
    pairs = planted_pairs(dimensions=8, pairs=10, moved=2)
    with pytest.raises(InvalidInputError, match=r"held_out 0\.99 leaves 0 of 10 pairs"):
        build_learner("hard-concrete", settings={"held_out": 0.99}).fit(pairs, np.random.default_rng(0))
