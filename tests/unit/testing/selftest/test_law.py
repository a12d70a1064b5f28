from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries.samplers import flat_angle, normal_noise, too_little_noise
from vecveil.testing.selftest.law import ALLOWANCE, density_findings, law_findings, stated_loss
from vecveil.testing.selftest.pairs import Pair, Releases, observe, pairs_of
from vecveil.testing.selftest.subjects import Law, Subject, subject_of


class Boastful(LaplaceMechanism):
    """States a density that falls off twice as fast as its promise allows."""

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        return 2 * super().log_density(released, original)


class Unsure(LaplaceMechanism):
    """States no density at all."""

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        return np.nan * super().log_density(released, original)


def released(kind: type[Mechanism], *, samples: int, seed: int = 0) -> tuple[float, Pair, Releases, Releases]:
    shape = NoiseShape(variances=np.ones(2))
    subject = subject_of(kind, shape, name="tested", variant="uniform", law=None)
    pair = next(pair for pair in pairs_of(subject) if pair.name == "near")
    rng = np.random.default_rng(seed)
    first, second = (
        observe(subject, pair, original, samples=samples, rng=rng) for original in (pair.first, pair.second)
    )
    return subject.mechanism.epsilon, pair, first, second


@pytest.mark.parametrize("kind", [LaplaceMechanism, PurkayasthaMechanism])
def test_a_right_density_foretells_the_other_input(kind: type[Mechanism]) -> None:
    found = list(density_findings("tested", *released(kind, samples=20_000)))
    assert len(found) == 16
    assert min(finding.pvalue for finding in found) > 1e-3


def test_noise_of_another_law_is_caught() -> None:
    found = density_findings("tested", *released(normal_noise, samples=20_000))
    assert min(finding.pvalue for finding in found) < 1e-12


def test_stated_densities_are_held_against_the_promise() -> None:
    right = stated_loss("tested", *released(LaplaceMechanism, samples=4000))
    wrong = stated_loss("tested", *released(Boastful, samples=4000))
    assert (right.pvalue, wrong.pvalue) == (1.0, 0.0)
    assert "promised are 1" in wrong.detail


def test_a_density_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="releases must be finite numbers, and so must be their log_density"):
        released(Unsure, samples=100)


def test_small_pvalues_are_as_rare_as_they_say() -> None:
    pvalues = [
        finding.pvalue
        for seed in range(40)
        for finding in density_findings("tested", *released(LaplaceMechanism, samples=1000, seed=seed))
    ]
    assert sum(pvalue < 0.2 for pvalue in pvalues) < 0.2 * len(pvalues)


def known(kind: type[Mechanism], law: Law | None) -> Subject:
    return subject_of(kind, NoiseShape(variances=np.ones(8)), name="tested", variant="uniform", law=law)


@pytest.mark.parametrize(("kind", "law"), [(LaplaceMechanism, "elliptical"), (PurkayasthaMechanism, "angular")])
def test_the_law_of_a_right_mechanism_has_no_small_pvalues(kind: type[Mechanism], law: Law) -> None:
    found = list(law_findings(known(kind, law), samples=4000, rng=np.random.default_rng(0)))
    assert len({finding.check for finding in found}) == len(found) > 4
    assert min(finding.pvalue for finding in found) > ALLOWANCE * 1e-5


@pytest.mark.parametrize(("kind", "law"), [(too_little_noise, "elliptical"), (flat_angle, "angular")])
def test_the_law_of_a_broken_mechanism_has(kind: type[Mechanism], law: Law) -> None:
    found = law_findings(known(kind, law), samples=4000, rng=np.random.default_rng(0))
    assert min(finding.pvalue for finding in found) < 1e-12


def test_a_law_that_is_not_known_is_not_tested() -> None:
    assert list(law_findings(known(LaplaceMechanism, None), samples=4000, rng=np.random.default_rng(0))) == []
