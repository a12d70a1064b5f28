from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from vecveil.attacks import ATTACKS, build_attack
from vecveil.attacks.averaging import Averaging
from vecveil.attacks.mlc import Mlc
from vecveil.core.errors import InvalidInputError, UnknownNameError


def test_attacks_go_by_the_names_that_users_know() -> None:
    assert ATTACKS.names() == ["averaging", "boosted", "geia", "mlc", "nearest", "vec2text"]


@pytest.mark.parametrize("name", ATTACKS.names())
def test_every_attack_is_a_frozen_dataclass_with_defaults(name: str) -> None:
    attack: Any = build_attack(name)
    assert attack == build_attack(name, {})
    assert attack.releases >= 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        attack.releases = 5


def test_settings_go_over_the_defaults() -> None:
    assert build_attack("mlc", {"epochs": 3}) == Mlc(epochs=3)
    assert build_attack("averaging", {"releases": 4}) == Averaging(releases=4)


def test_an_unknown_attack_is_refused_with_a_guess() -> None:
    with pytest.raises(UnknownNameError, match="unknown attack 'vectotext'; did you mean 'vec2text'"):
        build_attack("vectotext")


@pytest.mark.parametrize("setting", ["epoch", "releases", "name"])
def test_what_is_no_setting_is_refused(setting: str) -> None:
    with pytest.raises(UnknownNameError, match=f"unknown setting of the attack 'mlc' '{setting}'"):
        build_attack("mlc", {setting: 3})


def test_bad_values_are_refused_at_birth() -> None:
    with pytest.raises(InvalidInputError, match="epochs must be a whole number of at least 1, got 0"):
        build_attack("mlc", {"epochs": 0})
