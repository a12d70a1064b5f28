from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.veils import made_veil
from vecveil.accounting import MeasuredGuess
from vecveil.shapes import NoiseShape
from vecveil.substitutions.plain import Remove
from vecveil.substitutions.randomize import Randomize
from vecveil.veil.sheet import ANNOTATED, GUESS_FACTS, RECALL, describe_learning


def test_readings_and_exact_figures_are_for_the_typical_pair_and_an_unusual_one() -> None:
    veil = made_veil()
    sheet = veil.guarantee(epsilon=8.0)
    assert sheet.readings.pair_loss == pytest.approx(8.0 * veil.typical.pair)
    assert (sheet.typical.share, sheet.typical.distance) == (50, veil.typical.pair)
    assert (sheet.unusual.share, sheet.unusual.distance) == (95, veil.typical.high_pair)
    assert sheet.unusual.worst_case == pytest.approx(8.0 * veil.typical.high_pair)
    assert sheet.median_pair == veil.typical.euclidean_pair


def test_bounds_in_euclidean_distance_are_given_where_the_guarantee_is_in_another() -> None:
    assert made_veil().guarantee(epsilon=8.0).euclidean is not None
    flat = made_veil(mechanism="laplace", shape=NoiseShape(variances=np.ones(8)))
    assert flat.guarantee(epsilon=8.0).euclidean is None


def test_assumptions_name_the_rounding_the_model_and_what_was_learned_from_what() -> None:
    veil = made_veil()
    text = str(veil.guarantee(epsilon=8.0))
    assert "vectors rounded to 0.000976562, which is done before they get noise" in text
    assert "words at revision 1" in text
    assert "the shape, and the typical lengths" in text
    assert "of private texts, which is a release of its own: what its axes, lengths and counts tell" in text
    uniform = replace(veil, provenance=replace(veil.provenance, learner={"name": "uniform"}, public=True))
    assert "the shape, and" not in str(uniform.guarantee(epsilon=8.0))
    assert "their owner calls public" in str(uniform.guarantee(epsilon=8.0))


def test_a_sheet_says_what_is_bounded_of_a_veil_and_what_is_not() -> None:
    loss = {"epsilon": 1.0, "delta": 1e-6}
    veil = made_veil()
    center = replace(veil.provenance, losses={"center": loss})
    assert describe_learning(center, Remove()) == (
        "its center: (1, 1e-06)-differential privacy for replacing one text by another; "
        "what its axes, lengths and counts tell is measured, not bounded"
    )
    both = replace(veil.provenance, losses={"center": loss, "axes": {**loss, "epsilon": 2.0}})
    assert "its axes: (2, 1e-06)" in describe_learning(both, Remove())
    assert describe_learning(both, Remove()).endswith("what its lengths and counts tell is measured, not bounded")
    assert describe_learning(replace(center, public=True), Remove()) == "nothing that is private, as its owner says"


@pytest.mark.parametrize("grid", ["float32", "float16", "int8"])
def test_the_grid_stands_in_the_guarantee(grid: str) -> None:
    assert str(made_veil().grid_at(8.0, grid)) in str(made_veil().guarantee(epsilon=8.0, grid=grid))


def test_what_the_concept_finds_and_the_best_guess_stand_where_they_were_measured() -> None:
    veil = replace(made_veil(), epsilon=8.0, substitution=Remove())
    unknown = str(veil.guarantee())
    assert "what the concept finds: not measured" in unknown
    assert "Best guess" not in unknown
    guess = dict(zip(GUESS_FACTS, (0.0625, 0.02, 0.15, 0.0625, 40.0, 8.0), strict=True))
    facts = {RECALL: 0.9281, ANNOTATED: 812.0, **guess}
    known = replace(veil, provenance=replace(veil.provenance, facts=facts))
    assert "what the concept finds: recall 0.93 on 812 annotated spans, measured" in str(known.guarantee())
    assert "right in 6.2 % of cases (2.0 % to 15.0 % over 40 texts), 6.2 % without the vector" in str(known.guarantee())
    assert known.guarantee().guess == MeasuredGuess(right=0.0625, low=0.02, high=0.15, chance=0.0625, texts=40)
    # At another budget nobody has measured it.
    assert known.guarantee(epsilon=9.0).guess is None
    assert known.guarantee(releases=2).guess is None


def test_more_releases_promise_less() -> None:
    once, often = (made_veil().guarantee(epsilon=2.0, releases=releases).typical for releases in (1, 4))
    assert once != often


def test_a_sheet_promises_words_apart_from_everything_else() -> None:
    veil = made_veil()
    assert "Words that the concept finds" not in str(veil.guarantee(epsilon=8.0))
    removed = str(replace(veil, substitution=Remove()).guarantee(epsilon=8.0))
    assert "remove, ε = 0 for each different value: two texts with other words in the same places" in removed
    law = Randomize(epsilon=3.0, candidates={"X": ["a", "b"], "Y": ["c", "d"]}, taken=["Y"])
    drawn = str(replace(veil, substitution=law).guarantee(epsilon=8.0))
    assert "a factor of at most e^3, and exchanging k values by e^(3·k)" in drawn
    assert "which of them are the same" in drawn
    assert "candidates for Y (values of the texts)" in drawn
