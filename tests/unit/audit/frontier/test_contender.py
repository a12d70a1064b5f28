from __future__ import annotations

import numpy as np
import pytest

from support.corpora import toy_workbench
from support.veils import made_veil
from vecveil.audit.frontier import Workbench
from vecveil.audit.frontier.contender import Contender, at_noise
from vecveil.core.errors import UnknownNameError
from vecveil.embedders import Fingerprint
from vecveil.shapes import Evidence
from vecveil.substitutions import Substitution
from vecveil.substitutions.plain import Keep, Remove
from vecveil.substitutions.randomize import Randomize
from vecveil.veil.words import WordProtection


def test_a_shape_that_leaves_directions_out_is_a_family_and_others_are_not() -> None:
    assert Contender("canonical").is_family
    assert Contender("canonical").counts(8) == (1, 2, 4)
    for spec in ("uniform", "canonical,directions=2", "hard-concrete:paper"):
        assert not Contender(spec).is_family
        assert Contender(spec).counts(8) == (None,)


def test_no_more_directions_are_tried_than_can_be_left_out() -> None:
    assert max(count or 0 for count in Contender("canonical").counts(384)) < 384


def test_settings_of_the_caller_go_over_those_of_the_spec() -> None:
    assert not Contender("canonical", (("directions", 3),)).is_family


def test_a_wrong_name_or_setting_is_refused_at_once() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'canonical'"):
        Contender("canonicle")
    with pytest.raises(UnknownNameError, match="did you mean 'directions'"):
        Contender("canonical,direction=2")


WORDS = WordProtection(substitution=Keep(), concept=None)


def _learned(workbench: Workbench) -> tuple[Evidence, Fingerprint]:
    return workbench.evidence(0, Keep()), workbench.embed.fingerprint


@pytest.mark.parametrize(
    ("spec", "substitution"),
    [
        ("canonical", Keep()),
        ("canonical,substitution=remove", Remove()),
        ("uniform,substitution=randomize,word_epsilon=2.5", Randomize(epsilon=2.5)),
    ],
)
def test_a_spec_says_what_becomes_of_private_words(spec: str, substitution: Substitution) -> None:
    assert Contender(spec).substitution == substitution


def test_a_wrong_substitution_is_refused_at_once() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'remove'"):
        Contender("canonical,substitution=removed")


def test_a_contender_becomes_a_veil_with_that_many_directions_left_out() -> None:
    workbench = toy_workbench()
    veil = Contender("canonical").learn(*_learned(workbench), 2, 0, WORDS)
    assert veil.shape.dimensions - veil.shape.released == 2
    assert veil.provenance.learner["name"] == "canonical"
    assert veil.fingerprint == workbench.embed.embedder.fingerprint


def test_plain_noise_is_laplace_noise() -> None:
    workbench = toy_workbench()
    veil = Contender("uniform").learn(*_learned(workbench), None, 0, WORDS)
    np.testing.assert_array_equal(veil.shape.variances, veil.shape.variances[0])
    assert veil.shape.released == veil.shape.dimensions


def test_a_veil_at_a_noise_ratio_has_noise_of_that_length() -> None:
    defense = at_noise(made_veil(), 0.7)
    assert defense.veil.mechanism_at(defense.epsilon).noise_ratio(1.0) == pytest.approx(0.7)
