from __future__ import annotations

import pytest

from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.shapes import DEFAULT_SHAPE, SHAPE_LEARNERS, AttackLearner, build_learner


def test_what_is_learned_by_default_is_registered() -> None:
    assert DEFAULT_SHAPE in SHAPE_LEARNERS.names()


def test_settings_go_over_those_of_a_preset_and_those_over_the_defaults() -> None:
    learner = vars(build_learner("hard-concrete", preset="paper", settings={"penalty": 0.5}))
    assert (learner["penalty"], learner["loss"], learner["epochs"]) == (0.5, "sum", 100)


def test_unknown_presets_and_settings_are_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        build_learner("hard-concrete", preset="papr")
    with pytest.raises(UnknownNameError, match="did you mean 'penalty'"):
        build_learner("hard-concrete", settings={"penalt": 1})


def test_a_preset_of_another_shape_is_refused_with_the_shapes_that_have_it() -> None:
    with pytest.raises(InvalidInputError, match=r"'uniform' has no presets, .*'hard-concrete' and .* have one of that"):
        build_learner("uniform", preset="paper")
    with pytest.raises(InvalidInputError, match=r"'uniform' has no presets, got preset 'loud'$"):
        build_learner("uniform", preset="loud")


def test_learners_that_look_through_an_attack_say_which() -> None:
    looking = {name for name in SHAPE_LEARNERS.names() if isinstance(build_learner(name), AttackLearner)}
    assert looking == {"attack-guided", "integrated-gradients"}
