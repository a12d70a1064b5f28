from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.errors import InvalidInputError, MissingExtraError, UnknownNameError
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms import MECHANISMS
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest import SelfTest
from vecveil.testing.selftest.canaries.canary import Canary, canaries
from vecveil.testing.selftest.result import BREAKDOWN
from vecveil.testing.selftest.subjects import subject_of


class Half(LaplaceMechanism):
    """Adds half of the noise."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        return np.asarray((embeddings + super().perturb(embeddings, random)) / 2)


class Raising(LaplaceMechanism):
    """Fails in many dimensions."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        if self.dimensions > 2:
            raise RuntimeError("too many dimensions")
        return super().perturb(embeddings, random)


class Holes(MahalanobisMechanism):
    """Releases numbers that are none."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        return np.nan * super().perturb(embeddings, random)


def few() -> Iterator[Canary]:
    yield from list(canaries())[:2]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vecveil.testing.selftest.run.canaries", few)
    monkeypatch.setattr("vecveil.testing.selftest.run.DIMENSIONS", (2, 3))


def register(monkeypatch: pytest.MonkeyPatch, **kinds: str) -> None:
    names = MECHANISMS.builtin
    assert isinstance(names, dict)
    for name, kind in kinds.items():
        monkeypatch.setitem(names, name, kind)


def test_right_mechanisms_pass() -> None:
    result = SelfTest(samples=4000, seed=1).run()
    assert result.passed, result.failures
    tested = {finding.subject.partition(",")[0] for finding in result.findings}
    assert tested == {"secure streams", "releases", "laplace", "mahalanobis", "purkayastha"}
    assert result.settings["seed"] == 1
    assert set(result.versions) == {"python", "system", "vecveil", "numpy", "cryptography", "scipy"}


def test_a_seed_repeats_a_run() -> None:
    test = SelfTest(mechanisms=("laplace",), samples=4000, seed=5)
    first, second = test.run(), test.run()
    assert first.as_dict() == second.as_dict()


def test_without_a_seed_noise_is_fresh_each_time() -> None:
    test = SelfTest(mechanisms=("purkayastha",), samples=4000)
    first, second = ([finding.pvalue for finding in test.run().findings] for _ in range(2))
    assert first != second


def test_a_broken_mechanism_fails_by_its_loss_though_its_law_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, half=f"{__name__}:Half")
    result = SelfTest(mechanisms=("half",), samples=8000, seed=0).run()
    assert not result.passed
    assert {finding.subject for finding in result.failures} == {"half, uniform, n = 2", "half, uniform, n = 3"}
    assert "privacy loss" in {finding.check for finding in result.failures}


def test_an_error_in_one_mechanism_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, gone="no_such_package:Mechanism", raising=f"{__name__}:Raising")
    result = SelfTest(mechanisms=("gone", "raising", "laplace"), samples=4000, seed=0).run()
    assert {(finding.subject, finding.check) for finding in result.failures} == {
        ("gone", BREAKDOWN),
        ("raising, uniform, n = 3", BREAKDOWN),
    }
    assert "RuntimeError: too many dimensions" in {finding.detail for finding in result.failures}
    assert any(finding.subject.startswith("laplace") for finding in result.findings)


def test_a_mechanism_that_releases_no_numbers_fails_by_every_road(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, mahalanobis=f"{__name__}:Holes", holes=f"{__name__}:Holes")
    result = SelfTest(mechanisms=("mahalanobis", "holes"), samples=4000, seed=0).run()
    tested = {finding.subject for finding in result.findings} - {"secure streams", "releases"}
    assert {finding.subject for finding in result.failures} == tested


def test_a_canary_that_goes_unseen_makes_the_test_blind(monkeypatch: pytest.MonkeyPatch) -> None:
    flock = [canary for canary in canaries() if canary.name.startswith("clipped tails")]
    monkeypatch.setattr("vecveil.testing.selftest.run.canaries", lambda: flock)
    blind = SelfTest(mechanisms=("laplace",), samples=4000, seed=0).run()
    assert [canary.name for canary in blind.missed] == ["clipped tails, n = 16"]
    assert not blind.passed


def test_a_canary_that_breaks_down_is_not_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = NoiseShape(variances=np.ones(3))
    broken = subject_of(Raising, shape, name="raising", variant="canary", law="elliptical")
    flock = [Canary(name="raising", flaw="Raises.", broken=broken)]
    monkeypatch.setattr("vecveil.testing.selftest.run.canaries", lambda: flock)
    assert SelfTest(mechanisms=("laplace",), samples=4000, seed=0).run().missed[0].name == "raising"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"mechanisms": ("laplase",)}, UnknownNameError, "did you mean 'laplace'"),
        ({"samples": 100}, InvalidInputError, "samples must be a whole number of at least 4000, got 100"),
        ({"false_alarms": 1e-9}, InvalidInputError, "false_alarms must be between 1e-06 and 0.1, got 1e-09"),
        ({"seed": -1}, InvalidInputError, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SelfTest(**settings)


def test_a_missing_scipy_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match="audit"):
        SelfTest().run()
