from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, build_learner
from vecveil.shapes.neuron_sensitivity import neuron_sensitivity
from vecveil.testing.shapes import planted_pairs


def test_paired_sensitivity_is_the_largest_change_within_a_pair() -> None:
    pairs = ContrastPairs(np.array([[1.0, 5.0], [2.0, 5.0]]), np.array([[0.5, 5.0], [4.0, 4.9]]))
    assert neuron_sensitivity(pairs) == pytest.approx([2.0, 0.1])


def test_sensitivity_over_all_equals_the_formula_by_the_letter() -> None:
    rng = np.random.default_rng(0)
    pairs = ContrastPairs(rng.standard_normal((7, 4)), rng.standard_normal((7, 4)))
    by_the_letter = np.abs(pairs.with_concept[:, np.newaxis] - pairs.without_concept[np.newaxis]).max(axis=(0, 1))
    assert neuron_sensitivity(pairs, compare="all") == pytest.approx(by_the_letter)


def test_planted_dimensions_get_the_noise() -> None:
    pairs = planted_pairs(dimensions=20, pairs=50, moved=5)
    variances = build_learner("neuron-sensitivity").fit(Evidence(pairs), np.random.default_rng(0)).shape.variances
    assert variances[:5].min() > variances[5:].max()


def test_the_wilcoxon_test_of_the_paper_finds_a_difference_in_pure_noise() -> None:
    """Ranking and testing on the same pairs is circular; the held-out test is not fooled."""
    rng = np.random.default_rng(0)
    pairs = ContrastPairs(rng.standard_normal((40, 200)), rng.standard_normal((40, 200)))
    facts = build_learner("neuron-sensitivity").fit(Evidence(pairs), np.random.default_rng(0)).facts
    assert facts["wilcoxon_p"] < 1e-4
    assert facts["held_out_wilcoxon_p"] > 0.01


def test_the_held_out_test_finds_planted_dimensions() -> None:
    pairs = planted_pairs(dimensions=100, pairs=60, moved=10)
    facts = build_learner("neuron-sensitivity").fit(Evidence(pairs), np.random.default_rng(0)).facts
    assert facts["held_out_wilcoxon_p"] < 0.01


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="did you mean 'paired'"):
        build_learner("neuron-sensitivity", settings={"compare": "pairs"})


def test_by_default_no_dimension_is_the_value_of_one_record() -> None:
    pairs = planted_pairs(dimensions=20, pairs=101, moved=20)
    changes = np.abs(pairs.with_concept.astype(np.float64) - pairs.without_concept)
    weights = neuron_sensitivity(pairs, quantile=0.949)
    assert not np.isclose(weights[np.newaxis], changes, rtol=1e-9).any()


def test_every_pair_against_every_other_needs_the_largest_change() -> None:
    with pytest.raises(InvalidInputError, match=r"quantile must be 1 where compare is 'all', got 0\.95"):
        build_learner("neuron-sensitivity", settings={"compare": "all"})
