from __future__ import annotations

from dataclasses import replace

from support.audits import UNDEFENDED, VEIL, setting

from vecveil.audit.results import Setting
from vecveil.reports.points import Point, ordered


def test_seeds_of_one_setting_are_one_point() -> None:
    assert Point.of(setting(VEIL, 0.7, seed=0)) == Point.of(setting(VEIL, 0.7, seed=1))
    assert Point.of(setting(VEIL, 0.7)) != Point.of(setting(VEIL, 0.5))


def test_the_control_comes_first_then_the_veil_then_others_by_noise() -> None:
    found = [
        setting("laplace", 0.5),
        setting(VEIL, 1.0),
        setting(VEIL, 0.3),
        setting("laplace", 0.5, seed=1),
        UNDEFENDED,
    ]
    names = [str(point) for point in ordered(Point.of(one) for one in found)]
    assert names == [
        "unprotected",
        f"{VEIL}, noise 0.3",
        f"{VEIL}, noise 1",
        "laplace, noise 0.5",
    ]


def test_the_last_digit_of_a_dial_makes_no_other_point() -> None:
    one = setting(VEIL, 0.7)
    assert one.dials is not None
    other = replace(one, dials=replace(one.dials, pair_loss=one.dials.pair_loss * (1 + 1e-12)))
    assert Point.of(one) == Point.of(other)
    assert Point.of(replace(one, asked="")) != Point.of(replace(setting(VEIL, 0.5), asked=""))


def test_a_budget_is_shown_as_it_was_asked_for() -> None:
    paper = replace(setting(VEIL, 1.5), asked="ε = 10 (paper's scale)")
    assert Point.of(paper).budget == "ε = 10 (paper's scale)"
    assert Point.of(replace(paper, asked="")).budget == "noise 1.5"


def test_a_defence_on_the_texts_has_no_budget() -> None:
    removal = Setting(defence="remove", label="remove", asked="", dials=None, seed=0)
    assert str(Point.of(removal)) == "remove"
