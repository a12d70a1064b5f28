"""`vecveil show` and `vecveil guarantee`: the commands that read a veil and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.command_line import CommandLine, check_refusal
from support.embedders import DIMENSIONS
from support.veils import made_veil, rotated_shape

from vecveil.shapes import NoiseShape


def test_show_tells_what_is_in_a_veil(run: CommandLine, work: Path) -> None:
    veil = made_veil(epsilon=7.5, shape=rotated_shape())
    veil.save(work / "a.veil")
    outcome = run("show", "a.veil")
    assert outcome.code == 0
    told = " ".join(outcome.out.split())
    assert veil.digest() in told
    for part in ("words, 8 dimensions, normalised", "rotated, 7 of 8 axes released", "epsilon 7.5", "20 pairs"):
        assert part in told


def test_square_brackets_in_a_veil_are_just_letters(run: CommandLine, work: Path) -> None:
    veil = made_veil()
    replace(veil, fingerprint=replace(veil.fingerprint, model="model[/x] [bold]")).save(work / "a.veil")
    assert "model[/x] [bold]" in run("show", "a.veil").out
    assert "model[/x] [bold]" in " ".join(run("guarantee", "a.veil", "--epsilon", "2").out.split())


def test_guarantee_names_distance_assumptions_and_dials(run: CommandLine, work: Path) -> None:
    made_veil().save(work / "a.veil")
    outcome = run("guarantee", "a.veil", "--epsilon", "2")
    assert outcome.code == 0
    for part in ("Mahalanobis distance", "It holds if:", "noise-to-signal ratio", "median contrast pair", "Lemmas"):
        assert part in outcome.out


def test_guarantee_states_grid_exact_figures_and_odds(run: CommandLine, work: Path) -> None:
    made_veil().save(work / "a.veil")
    outcome = run("guarantee", "a.veil", "--epsilon", "2", "--grid", "int8")
    assert outcome.code == 0, outcome.err
    told = " ".join(outcome.out.split())
    for part in ("grid: int8, whole steps of", "(ε′, δ) = (", "blind guessing gives 50"):
        assert part in told
    assert "8 released vectors of the same text" in " ".join(
        run("guarantee", "a.veil", "--epsilon", "2", "--releases", "8").out.split()
    )


def test_guarantee_uses_the_kept_budget_or_a_dial(run: CommandLine, work: Path) -> None:
    made_veil(epsilon=7.5, shape=NoiseShape(variances=np.ones(DIMENSIONS))).save(work / "a.veil")
    assert "7.5 nats" in run("guarantee", "a.veil").out
    assert "noise-to-signal ratio: 0.5 " in run("guarantee", "a.veil", "--noise-ratio", "0.5").out
    # 15/5 times the length of an embedding, in dimensions/epsilon.
    assert "2.82843 nats" in run("guarantee", "a.veil", "--epsilon", "5", "--scale", "paper").out


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
        (("--epsilon", "3", "--noise-ratio", "1"), ("--epsilon or --noise-ratio, not both",)),
        (("--epsilon", "3", "--scale", "papr"), ("'papr'", "paper")),
        ((), ("--epsilon or --noise-ratio",)),
    ],
)
def test_a_wrong_budget_is_refused(
    run: CommandLine, work: Path, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    made_veil().save(work / "a.veil")
    check_refusal(run("guarantee", "a.veil", *options), *named)


@pytest.mark.parametrize("command", [("show",), ("guarantee", "--epsilon", "2")])
@pytest.mark.parametrize(
    ("break_it", "named"),
    [
        (lambda folder: (folder / "manifest.json").write_text('{"kind": "ve'), ("manifest.json cannot be read",)),
        (lambda folder: (folder / "manifest.json").write_text("[]"), ("must hold a JSON object, got list",)),
        (lambda folder: (folder / "manifest.json").write_text("{}"), ("not a veil",)),
        (lambda folder: (folder / "manifest.json").unlink(), ("has no manifest.json",)),
        (lambda folder: (folder / "tensors.safetensors").unlink(), ("tensors.safetensors cannot be read",)),
        (lambda folder: _edited(folder, format=99), ("format 99", "install a newer vecveil")),
        (lambda folder: _edited(folder, epsilon=3.0), ("fails its own digest",)),
        (lambda folder: _edited(folder, typical=None), ("fails its own digest",)),
    ],
)
def test_a_broken_veil_is_refused(
    run: CommandLine, work: Path, command: tuple[str, ...], break_it: object, named: tuple[str, ...]
) -> None:
    made_veil().save(work / "a.veil")
    assert callable(break_it)
    break_it(work / "a.veil")
    check_refusal(run(command[0], "a.veil", *command[1:]), "a.veil", *named)


def test_a_veil_that_is_not_there_is_refused(run: CommandLine, work: Path) -> None:
    check_refusal(run("show", "gone.veil"), "no veil", "gone.veil")


def _edited(folder: Path, **changes: object) -> None:
    document = json.loads((folder / "manifest.json").read_text())
    document = {key: value for key, value in {**document, **changes}.items() if value is not None or key == "epsilon"}
    (folder / "manifest.json").write_text(json.dumps(document))
