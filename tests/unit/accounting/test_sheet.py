from __future__ import annotations

import numpy as np
import pytest

from vecveil.accounting import Dials, EuclideanBounds, Guarantee, GuaranteeSheet
from vecveil.core.errors import InvalidInputError


def sheet(*, epsilon: float, pair: float, variances: list[float], noise_ratio: float = 1.0) -> GuaranteeSheet:
    return GuaranteeSheet(
        guarantee=Guarantee(
            mechanism="mahalanobis",
            epsilon=epsilon,
            metric="Mahalanobis distance",
            distance="Mahalanobis distance, √(vᵀ Σ⁻¹ v)",
            unit="one deviation",
            assumptions=("one release",),
        ),
        dials=Dials(epsilon=epsilon, distance="d", noise_ratio=noise_ratio, pair_loss=epsilon * pair),
        euclidean=EuclideanBounds.of(epsilon=epsilon, variances=np.array(variances)),
        median_pair=pair,
    )


def test_a_guarantee_is_never_shown_without_distance_unit_and_assumptions() -> None:
    shown = str(sheet(epsilon=1.0, pair=1.0, variances=[1.0, 1.0]))
    for part in (
        "1·d metric",
        "√(vᵀ Σ⁻¹ v)",
        "one deviation",
        "one release",
        "noise-to-signal",
        "median contrast pair",
    ):
        assert part in shown


def test_a_telling_bound_brings_no_warning() -> None:
    assert sheet(epsilon=1.0, pair=1.0, variances=[1.0, 1.0]).warnings == ()


def test_a_loss_that_bounds_nothing_is_called_vacuous() -> None:
    warnings = sheet(epsilon=100.0, pair=1.0, variances=[1.0, 1.0]).warnings
    assert len(warnings) == 1
    assert "vacuous" in warnings[0]
    assert "e^100" in warnings[0]


def test_an_axis_released_almost_in_clear_is_called_so() -> None:
    (warning,) = sheet(epsilon=1.0, pair=1.0, variances=[1.999999, 1e-6]).warnings
    assert "released almost in clear" in warning
    assert "1e-06" in warning
    assert "1000 nats" in warning


def test_noise_that_drowns_everything_is_called_so() -> None:
    (warning,) = sheet(epsilon=1.0, pair=1.0, variances=[1.0, 1.0], noise_ratio=77.0).warnings
    assert "77 times as long" in warning


def test_a_guarantee_needs_a_positive_epsilon() -> None:
    with pytest.raises(InvalidInputError, match=r"epsilon must be a finite number above zero, got 0\.0"):
        sheet(epsilon=0.0, pair=1.0, variances=[1.0])


def test_further_assumptions_come_last() -> None:
    promise = sheet(epsilon=1.0, pair=1.0, variances=[1.0]).guarantee.assuming("a fixed model")
    assert promise.assumptions == ("one release", "a fixed model")
