from __future__ import annotations

from dataclasses import replace

import numpy as np

from vecveil.accounting import (
    BudgetReadings,
    EuclideanBounds,
    Guarantee,
    GuaranteeSheet,
    PairPromise,
    WordPromise,
)


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
        readings=BudgetReadings(epsilon=epsilon, distance="d", noise_ratio=noise_ratio, pair_loss=epsilon * pair),
        euclidean=EuclideanBounds.from_variances(epsilon=epsilon, variances=np.array(variances)),
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


def test_the_body_is_the_sheet_without_its_warnings() -> None:
    quiet, loud = (sheet(epsilon=epsilon, pair=1.0, variances=[1.0, 1.0]) for epsilon in (1.0, 100.0))
    assert quiet.body == str(quiet)
    assert str(loud) == f"{loud.body}\n\nWarning: {loud.warnings[0]}."


def test_a_notebook_shows_the_sheet_as_it_is() -> None:
    html = sheet(epsilon=1.0, pair=1.0, variances=[1.0, 1.0])._repr_html_()
    assert html.startswith("<pre>")
    assert "<" not in html.removeprefix("<pre>").removesuffix("</pre>")


def test_bounds_are_shown_where_the_noise_is_elliptical() -> None:
    elliptical = sheet(epsilon=1.0, pair=1.0, variances=[1.0, 1.0])
    assert "In Euclidean distance (Lemmas 1 and 2)" in elliptical.body
    assert "Lemmas" not in replace(elliptical, euclidean=None).body


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


def promise(*, share: int, success: float) -> PairPromise:
    return PairPromise(share=share, distance=1.0, worst_case=100.0, delta=1e-6, epsilon=30.0, success=success)


def test_exact_promises_are_shown_for_the_pairs_that_are_known() -> None:
    bare = sheet(epsilon=1.0, pair=1.0, variances=[1.0, 1.0])
    typical, unusual = promise(share=50, success=0.7), promise(share=95, success=0.9)
    assert "Exactly" not in str(bare)
    shown = str(replace(bare, typical=typical, unusual=unusual))
    for one in (typical, unusual):
        assert one.sentence in shown
        assert one.numbers in shown
    assert unusual.sentence not in str(replace(bare, typical=typical))


def test_a_vacuous_bound_points_to_the_exact_numbers_where_they_say_more() -> None:
    vacuous = sheet(epsilon=100.0, pair=1.0, variances=[1.0, 1.0])
    (warning,) = replace(vacuous, typical=promise(share=50, success=0.861)).warnings
    assert "e^100 bounds nothing" in warning
    assert "(ε′, δ) = (30, 1e-06), and the best guess is right in at most 87 of 100 cases: read that" in warning


def test_exact_numbers_that_say_nothing_either_are_called_so() -> None:
    vacuous = sheet(epsilon=100.0, pair=1.0, variances=[1.0, 1.0])
    (warning,) = replace(vacuous, typical=promise(share=50, success=0.9999)).warnings
    assert "in practically every case (up to 99.99 of 100): no promise either" in warning
    assert "measured by attacks" in warning


def test_a_warning_says_how_many_releases_its_numbers_are_for() -> None:
    vacuous = sheet(epsilon=100.0, pair=1.0, variances=[1.0, 1.0])
    (warning,) = replace(vacuous, typical=replace(promise(share=50, success=0.861), releases=4)).warnings
    assert "(30, 1e-06) after 4 releases, and the best guess" in warning


def test_what_is_found_is_kept_apart_from_what_the_concept_misses() -> None:
    """Where found words are replaced, the exact odds are about other words, and say so."""
    vacuous = sheet(epsilon=100.0, pair=1.0, variances=[1.0, 1.0])
    words = WordPromise(substitution="remove", epsilon=0.0)
    missed = replace(promise(share=50, success=0.9999), missed=True)
    shown = replace(vacuous, words=words, typical=missed)
    (warning,) = shown.warnings
    assert warning.startswith("for words that the concept misses, the worst-case bound is vacuous")
    assert "whether words that the concept misses were in it or not" in shown.body
    assert "a text with words that the concept misses and the same text without them" in shown.body
