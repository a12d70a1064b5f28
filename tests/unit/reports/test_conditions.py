from __future__ import annotations

from dataclasses import replace

from support.audits import UNDEFENDED, VEIL, setting
from vecveil.audit.rows import Setting
from vecveil.reports.conditions import Condition, sort_conditions


def test_seeds_of_one_setting_are_one_condition() -> None:
    assert Condition.from_setting(setting(VEIL, 0.7, seed=0)) == Condition.from_setting(setting(VEIL, 0.7, seed=1))
    assert Condition.from_setting(setting(VEIL, 0.7)) != Condition.from_setting(setting(VEIL, 0.5))


def test_the_control_comes_first_then_the_veil_then_others_by_noise() -> None:
    found = [
        setting("laplace", 0.5),
        setting(VEIL, 1.0),
        setting(VEIL, 0.3),
        setting("laplace", 0.5, seed=1),
        UNDEFENDED,
    ]
    names = [str(condition) for condition in sort_conditions(Condition.from_setting(one) for one in found)]
    assert names == [
        "none",
        "veil, noise 0.3",
        "veil, noise 1",
        "LapMech, noise 0.5",
    ]


def test_the_last_digit_of_a_reading_makes_no_other_condition() -> None:
    one = setting(VEIL, 0.7)
    assert one.readings is not None
    other = replace(one, readings=replace(one.readings, pair_loss=one.readings.pair_loss * (1 + 1e-12)))
    assert Condition.from_setting(one) == Condition.from_setting(other)
    assert Condition.from_setting(replace(one, asked="")) != Condition.from_setting(
        replace(setting(VEIL, 0.5), asked="")
    )


def test_a_budget_is_shown_as_it_was_asked_for() -> None:
    paper = replace(setting(VEIL, 1.5), asked="ε = 10 (paper's scale)")
    assert Condition.from_setting(paper).budget == "ε = 10 (paper's scale)"
    assert Condition.from_setting(replace(paper, asked="")).budget == "noise 1.5"


def test_a_defense_on_the_texts_has_no_budget() -> None:
    removal = Setting(defense="remove", label="remove", asked="", readings=None, seed=0)
    assert str(Condition.from_setting(removal)) == "redaction"
