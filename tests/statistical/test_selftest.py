"""The self-test as a user runs it: it passes here, it catches what is broken, and its rates are as it says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from support.command_line import CommandLine
from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms import MECHANISMS
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries.canary import canaries
from vecveil.testing.selftest.canaries.samplers import too_little_noise
from vecveil.testing.selftest.law import ALLOWANCE, law_findings
from vecveil.testing.selftest.pairs import observe, pairs_of
from vecveil.testing.selftest.privacy_loss import losses
from vecveil.testing.selftest.subjects import Subject, subject_of, subjects_of


class OneShort(MahalanobisMechanism):
    """Draws the radius as if there were one axis less."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        noise = super().perturb(embeddings, random) - embeddings
        return np.asarray(embeddings + noise * (self.variances.size - 1) / self.variances.size)


def test_the_default_self_test_passes_and_catches_every_canary(run: CommandLine, work: Path) -> None:
    outcome = run("selftest", "--seed", 20, "--json", "findings.json")
    assert outcome.code == 0, outcome.out
    assert "Passed" in outcome.out
    findings = json.loads((work / "findings.json").read_text(encoding="utf-8"))
    assert findings["false_alarms"] == 1e-6
    assert all(canary["caught_by"] for canary in findings["canaries"])
    # The surest check isn't the only one: too little noise shows in what it gives away, in 384 dimensions too.
    checks = {canary["name"]: canary["caught_by"] for canary in findings["canaries"]}
    assert "delta at 0" in checks["too little noise, n = 384"]
    assert "privacy loss" in checks["von mises fisher, n = 16"]


def test_a_broken_mechanism_of_another_package_ends_in_an_exit_code_of_1(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = MECHANISMS.builtin
    assert isinstance(names, dict)
    monkeypatch.setitem(names, "one-short", f"{__name__}:OneShort")
    # The canaries are caught above.
    monkeypatch.setattr("vecveil.testing.selftest.run.canaries", lambda: list(canaries())[:3])
    outcome = run("selftest", "--mechanism", "one-short", "--seed", 20)
    assert outcome.code == 1
    assert "Failed" in outcome.out
    assert "one-short, uniform, n = 2: delta at 0" in outcome.out
    assert "blind" not in outcome.out


def right_subject() -> Subject:
    (subject,) = (found for found in subjects_of("mahalanobis", (3,)) if found.variant == "diagonal")
    return subject


def test_the_loss_of_a_right_mechanism_is_rarely_called_too_large() -> None:
    subject = right_subject()
    pvalues = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        for pair in pairs_of(subject):
            ours, theirs = (
                observe(subject, pair, original, samples=1000, rng=rng) for original in (pair.first, pair.second)
            )
            pvalues += [loss.pvalue for loss in losses("right", subject.mechanism, pair, ours, theirs)]
    # Bounds on two chances at half the level each are wrong together less often than the level allows.
    assert sum(pvalue < 0.2 for pvalue in pvalues) < 0.2 * len(pvalues)


def test_the_laws_of_a_right_mechanism_are_rarely_called_wrong() -> None:
    subject = right_subject()
    smallest = [
        min(finding.pvalue for finding in law_findings(subject, samples=500, rng=np.random.default_rng(seed)))
        for seed in range(100)
    ]
    # Times the allowance, a p-value below one is below 1/50, and 12 are looked at: 24 in 100 at most, and 40 never.
    assert sum(pvalue < 1 for pvalue in smallest) < 40
    assert min(smallest) > 1e-6 / ALLOWANCE


@pytest.mark.parametrize("kind", [too_little_noise, MahalanobisMechanism])
def test_a_tenth_less_noise_shows_in_what_is_given_away_in_384_dimensions(kind: type[MahalanobisMechanism]) -> None:
    shape = NoiseShape(variances=np.ones(384))
    subject = subject_of(kind, shape, name="tested", variant="uniform", law=None)
    rng = np.random.default_rng(5)
    (pair,) = pairs_of(subject)
    ours, theirs = (observe(subject, pair, original, samples=30_000, rng=rng) for original in (pair.first, pair.second))
    found = {loss.check: loss.pvalue for loss in losses("tested", subject.mechanism, pair, ours, theirs)}
    assert (found["delta at 0"] < 1e-9) == (kind is too_little_noise)
