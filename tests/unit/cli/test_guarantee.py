from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.command_line import CommandLine, check_refusal
from support.embedders import DIMENSIONS
from support.veils import made_veil
from vecveil.shapes import NoiseShape


def test_it_names_distance_assumptions_and_readings(run: CommandLine, work: Path) -> None:
    made_veil().save(work / "a.veil")
    outcome = run("guarantee", "a.veil", "--epsilon", "2")
    assert outcome.code == 0
    for part in ("Mahalanobis distance", "It holds if:", "noise-to-signal ratio", "median contrast pair", "Lemmas"):
        assert part in outcome.out


def test_it_states_grid_exact_figures_and_odds(run: CommandLine, work: Path) -> None:
    made_veil().save(work / "a.veil")
    outcome = run("guarantee", "a.veil", "--epsilon", "2", "--grid", "int8")
    assert outcome.code == 0, outcome.err
    stated = " ".join(outcome.out.split())
    for part in ("grid: int8, whole steps of", "(ε′, δ) = (", "blind guessing gives 50"):
        assert part in stated
    assert "8 released vectors of the same text" in " ".join(
        run("guarantee", "a.veil", "--epsilon", "2", "--releases", "8").out.split()
    )


def test_a_budget_is_the_kept_one_or_has_one_of_three_names(run: CommandLine, work: Path) -> None:
    made_veil(epsilon=7.5, shape=NoiseShape(variances=np.ones(DIMENSIONS))).save(work / "a.veil")
    assert "7.5 nats" in run("guarantee", "a.veil").out
    assert "noise-to-signal ratio: 0.5 " in run("guarantee", "a.veil", "--noise-ratio", "0.5").out
    # 15/5 times the length of an embedding, in dimensions/epsilon.
    assert "2.82843 nats" in run("guarantee", "a.veil", "--paper-epsilon", "5").out


def test_square_brackets_in_the_name_of_a_model_are_just_letters(run: CommandLine, work: Path) -> None:
    veil = made_veil()
    replace(veil, fingerprint=replace(veil.fingerprint, model="model[/x] [bold]")).save(work / "a.veil")
    assert "model[/x] [bold]" in " ".join(run("guarantee", "a.veil", "--epsilon", "2").out.split())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--epsilon", "0"), ("epsilon must be", "0.0")),
        (("--epsilon", "-1"), ("epsilon must be", "-1.0")),
        (("--epsilon", "nan"), ("epsilon must be", "nan")),
        (("--epsilon", "inf"), ("epsilon must be", "inf")),
        (("--epsilon", "eight"), ("'eight'",)),
        (("--epsilon", "1e-200"), ("epsilon", "1e-200")),
        (("--epsilon", "1e300"), ("epsilon", "1e+300")),
        (("--noise-ratio", "0"), ("noise ratio must be", "0.0")),
        (("--noise-ratio", "nan"), ("noise ratio must be", "nan")),
        (("--noise-ratio", "1e99"), ("noise ratio", "1e+99")),
        (("--paper-epsilon", "0"), ("epsilon must be", "0.0")),
        (("--epsilon", "3", "--noise-ratio", "1"), ("give one budget, got epsilon 3.0 and noise_ratio 1.0",)),
        (("--epsilon", "3", "--paper-epsilon", "1"), ("give one budget, got epsilon 3.0 and paper_epsilon 1.0",)),
        ((), ("a budget must be given (epsilon, noise_ratio or paper_epsilon)",)),
    ],
)
def test_a_wrong_budget_is_refused(
    run: CommandLine, work: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    made_veil().save(work / "a.veil")
    check_refusal(run("guarantee", "a.veil", *options), *named)
