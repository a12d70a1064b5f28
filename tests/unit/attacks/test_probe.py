from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.attacks import ConceptProbe
from vecveil.core.errors import InvalidInputError, UnknownNameError


def planted(strength: float, rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    present = rng.random(rows) < 0.5
    vectors = rng.standard_normal((rows, 10))
    vectors[:, 0] += strength * present
    return vectors, present


def test_a_probe_finds_what_is_there() -> None:
    score = ConceptProbe().score(*planted(6.0))
    assert score.auc > 0.98
    assert score.accuracy > 0.95
    assert score.tested == 180


def test_a_probe_is_blind_where_there_is_nothing() -> None:
    assert ConceptProbe().score(*planted(0.0)).auc == pytest.approx(0.5, abs=0.1)


def test_a_probe_finds_what_no_straight_line_can() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((1500, 4))
    assert ConceptProbe().score(vectors, vectors[:, 0] * vectors[:, 1] > 0).auc > 0.9


def test_groups_stay_on_one_side_of_the_split() -> None:
    """With each group's label drawn at random, only a probe that has seen the group could know it."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((150, 20))
    groups = np.repeat(np.arange(150), 4)
    vectors = centers[groups] + 0.01 * rng.standard_normal((600, 20))
    present = (rng.random(150) < 0.5)[groups]
    assert ConceptProbe().score(vectors, present).auc > 0.9
    assert ConceptProbe().score(vectors, present, groups).auc < 0.75


def test_one_class_alone_cannot_be_probed() -> None:
    with pytest.raises(InvalidInputError, match="with and without the concept"):
        ConceptProbe().score(np.ones((10, 2)), np.ones(10, dtype=bool))
    with pytest.raises(InvalidInputError, match="one truth value per vector"):
        ConceptProbe().score(np.ones((10, 2)), np.ones(9, dtype=bool))


@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_both_kinds_find_what_lies_along_one_direction(kind: Any) -> None:
    assert ConceptProbe(kind=kind).score(*planted(4.0)).auc > 0.95


def test_a_linear_probe_is_blind_where_only_two_dimensions_together_tell() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((1500, 4))
    present = vectors[:, 0] * vectors[:, 1] > 0
    assert ConceptProbe(kind="linear").score(vectors, present).auc == pytest.approx(0.5, abs=0.08)
    assert ConceptProbe(kind="mlp").score(vectors, present).auc > 0.9


def test_the_same_seed_gives_the_same_score_and_another_seed_another_split() -> None:
    one, again, other = (ConceptProbe(epochs=5, seed=seed).score(*planted(1.0)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.chances, again.chances)
    assert one.present.tolist() != other.present.tolist()


def test_chances_are_probabilities_and_the_scores_follow_from_them() -> None:
    score = ConceptProbe(kind="linear").score(*planted(1.0))
    with_concept, without = score.chances[score.present], score.chances[~score.present]
    assert ((score.chances >= 0) & (score.chances <= 1)).all()
    assert score.auc == pytest.approx((with_concept[:, None] > without).mean())
    assert score.accuracy == pytest.approx(((with_concept > 0.5).mean() + (without <= 0.5).mean()) / 2)


def test_a_class_that_is_rare_counts_as_much_as_the_other() -> None:
    vectors, present = planted(0.0)
    present &= np.arange(600) % 10 == 0
    assert ConceptProbe(kind="linear").score(vectors, present).accuracy == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("rows", [20, 40, 70])
def test_a_few_vectors_are_probed_without_a_warning(rows: int) -> None:
    vectors, present = planted(8.0, rows)
    assert ConceptProbe(epochs=20).score(vectors, present).tested == round(0.3 * rows)


def test_too_few_vectors_are_refused_with_their_numbers() -> None:
    vectors, present = np.random.default_rng(0).standard_normal((10, 3)), np.arange(10) % 5 == 0
    with pytest.raises(InvalidInputError, match=r"of each to (train|test) on, got"):
        ConceptProbe().score(vectors, present)


def test_groups_must_be_one_number_per_vector() -> None:
    vectors, present = planted(1.0)
    with pytest.raises(InvalidInputError, match=r"groups must be one number per vector, got shape \(3,\)"):
        ConceptProbe().score(vectors, present, np.arange(3))


def test_an_unknown_kind_is_refused_with_a_guess() -> None:
    kind: Any = "liner"
    with pytest.raises(UnknownNameError, match="unknown kind of probe 'liner'; did you mean 'linear'"):
        ConceptProbe(kind=kind)


@pytest.mark.parametrize("bad", [{"hidden": (0,)}, {"epochs": 0}, {"held_out": 1.0}, {"seed": -1}])
def test_bad_settings_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match="must"):
        ConceptProbe(**bad)
