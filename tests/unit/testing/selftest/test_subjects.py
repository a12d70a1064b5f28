from __future__ import annotations

from typing import Self

import numpy as np
import pytest

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.testing.selftest.subjects import LAWS, Subject, rotated_axes, subject_of, subjects_of, uneven_shapes


class DiagonalOnly(MahalanobisMechanism):
    """A mechanism of another package that can't turn its noise."""

    @classmethod
    def for_shape(cls, *, epsilon: float, variances: Vector, axes: Matrix | None, center: Vector | None) -> Self:
        if axes is not None or np.isinf(variances).any():
            raise InvalidInputError("only diagonal shapes")
        return super().for_shape(epsilon=epsilon, variances=variances, axes=axes, center=center)


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> list[Subject]:
    monkeypatch.setitem(dict_of_names(), "diagonal-only", f"{__name__}:DiagonalOnly")
    return list(subjects_of("diagonal-only", (2, 384)))


def dict_of_names() -> dict[str, str]:
    names = MECHANISMS.builtin
    assert isinstance(names, dict)
    return names


def test_every_mechanism_of_ours_has_a_law() -> None:
    assert set(LAWS) == set(MECHANISMS.names())


def test_a_mechanism_that_takes_a_shape_is_tested_in_all_of_them() -> None:
    titles = [subject.title for subject in subjects_of("mahalanobis", (2, 384))]
    assert titles == [
        "mahalanobis, uniform, n = 2",
        "mahalanobis, diagonal, n = 2",
        "mahalanobis, rotated, n = 2",
        "mahalanobis, partly unreleased, n = 2",
        "mahalanobis, few uneven axes, n = 2",
        "mahalanobis, diagonal, n = 384",
        "mahalanobis, rotated, n = 384",
        "mahalanobis, partly unreleased, n = 384",
        "mahalanobis, few uneven axes, n = 384",
    ]


def test_angles_are_tested_at_several_budgets() -> None:
    budgets = {subject.variant: subject.mechanism.epsilon for subject in subjects_of("purkayastha", (16,))}
    assert budgets == {"uniform": 32.0, "strong noise": 0.8, "weak noise": 800.0}


def test_a_shape_that_a_mechanism_refuses_is_left_out(foreign: list[Subject]) -> None:
    assert [subject.variant for subject in foreign] == ["uniform", "diagonal", "diagonal"]


def test_a_mechanism_of_another_package_has_no_law_but_its_own(foreign: list[Subject]) -> None:
    assert {subject.law for subject in foreign} == {None}


def test_rotated_axes_are_orthonormal_and_not_their_own_transpose() -> None:
    axes = rotated_axes(16)
    np.testing.assert_allclose(axes.T @ axes, np.eye(16), atol=1e-12)
    assert np.abs(axes - axes.T).max() > 0.1


def keyed_and_fresh() -> list[Subject]:
    shape, kind = uneven_shapes(4)["rotated"], MECHANISMS.load("mahalanobis")
    return [
        subject_of(kind, shape, name="mahalanobis", variant="rotated", law="elliptical", keyed=keyed)
        for keyed in (False, True)
    ]


@pytest.mark.parametrize("number", [0, 1], ids=["fresh", "keyed"])
def test_noise_can_be_repeated_by_a_generator_and_by_nothing_else(number: int) -> None:
    subject, vectors = keyed_and_fresh()[number], np.ones((50, 4))
    once, again, other = (subject.perturb(vectors, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(once, again)
    assert len(np.unique(np.concatenate([once, other]), axis=0)) == 100


def test_releases_are_on_a_grid() -> None:
    for subject in keyed_and_fresh():
        released = subject.perturb(np.ones((50, 4)), np.random.default_rng(0))
        assert released.dtype == np.float64
        np.testing.assert_array_equal(released, released.astype(np.float32))
