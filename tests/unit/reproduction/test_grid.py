from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reproduction import Lab
from reproduction.defenses import DefenseName
from reproduction.grid import NOISES, Request, budgets, measure, with_undefended
from vecveil.audit.defenses import Defense
from vecveil.audit.frontier import Workbench
from vecveil.core.errors import MissingExtraError
from vecveil.veil.budget import Budget

TEN = Budget(value=10, scale="paper")
NAME = "main-results"


def _request(defense: str = "none", *, dataset: str = "sts12", **more: object) -> Request:
    budget = None if defense == "none" else TEN
    keys = {"dataset": dataset, "epsilon": "10" if budget else "inf", "defense": defense}
    scale = "paper" if budget else ""
    given = {"keys": keys, "dataset": dataset, "defense": DefenseName(name=defense, budget=budget), "scale": scale}
    return Request(**{**given, **more})


def test_a_quick_look_reads_the_largest_epsilons_literally_too(lab: Lab) -> None:
    assert [one.asked for one in budgets(lab, (10, 5))] == [
        "ε = 5 (paper's scale)",
        "ε = 10 (paper's scale)",
        "ε = 10",
    ]
    whole = replace(lab, effort=replace(lab.effort, literal=None))
    assert [one.scale for one in budgets(whole, (5, 10))] == ["paper", "paper", "literal", "literal"]


def test_every_noise_is_beside_no_defense(lab: Lab) -> None:
    found = [(scale, one.name) for scale, one in with_undefended(lab, 10)]
    assert found == [("", "none"), *((scale, name) for scale in ("paper", "literal") for name in NOISES)]


def test_a_line_is_measured_in_per_cent_beside_the_papers_figure(lab: Lab) -> None:
    result = measure(lab, NAME, "", [_request("laplace", metrics=("leakage", "chance", "utility"))])
    ours = {row.metric: row for row in result.rows if row.ours is not None}
    assert set(ours) == {"leakage", "chance", "utility"}
    measured = lab.attack_dataset("sts12", DefenseName(name="laplace", budget=TEN), "nearest", 0)
    assert ours["leakage"].ours == pytest.approx(100 * measured.leakage)
    assert ours["leakage"].paper is not None
    assert ours["chance"].paper is None


def test_figures_of_the_paper_that_no_line_stands_beside_stay(lab: Lab) -> None:
    result = measure(lab, NAME, "", [_request("laplace", metrics=("leakage",))])
    printed = [row for row in result.rows if row.paper is not None]
    assert len(printed) == 32
    assert sum(row.ours is not None for row in printed) == 1
    assert {row.metric for row in printed} == {"leakage"}


def test_a_literal_epsilon_has_no_figure_of_the_paper_beside_it(lab: Lab) -> None:
    literal = Budget(value=10, scale="literal")
    request = replace(_request("laplace"), defense=DefenseName(name="laplace", budget=literal), scale="literal")
    assert request.paper(NAME, "leakage") is None
    assert _request("laplace").paper(NAME, "leakage") is not None
    assert replace(_request("laplace"), compared=False).paper(NAME, "leakage") is None


def test_a_category_that_nothing_is_known_of_stays_empty(lab: Lab) -> None:
    [row, tokens] = measure(lab, "x", "", [_request(category="PLANET", metrics=("leakage", "tokens"))]).rows
    assert (row.ours, tokens.ours) == (None, 0.0)


def test_a_data_set_that_cannot_be_used_is_left_out_and_named_once_without_its_path(lab: Lab, tmp_path: Path) -> None:
    away = replace(lab, data=tmp_path, out=tmp_path / "measured")
    result = measure(away, NAME, "", [_request(), _request("laplace"), _request(dataset="fiqa")])
    assert all(row.ours is None for row in result.rows)
    assert len(result.rows) == 96
    said = [note for note in result.notes if "was not run" in note]
    assert [note.partition(" was")[0] for note in said] == ["sts12", "fiqa"]
    assert "sts12 was not run: --data has no sts12/sts12.parquet" in said[0]
    assert str(tmp_path) not in "".join(result.notes)


def test_a_line_that_cannot_be_measured_does_not_stop_the_others(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = DefenseName.build

    def without_captum(self: DefenseName, bench: Workbench, seed: int) -> Defense:
        if self.name == "purkayastha":
            raise MissingExtraError("captum", "audit")
        return whole(self, bench, seed)

    monkeypatch.setattr(DefenseName, "build", without_captum)
    other = replace(lab, out=lab.out.parent / "other")
    result = measure(other, NAME, "", [_request("purkayastha"), _request("laplace")])
    assert {row.keys["defense"] for row in result.rows if row.ours is not None} == {"laplace"}
    assert any("sts12 behind purkayastha was not run" in note and "captum" in note for note in result.notes)


def test_notes_tell_what_stood_in_for_what(lab: Lab) -> None:
    result = measure(lab, NAME, "", [_request(dataset="fiqa"), _request(attack="mlc")])
    text = " ".join(result.notes)
    assert "1 seed; vectors of minilm, where the paper has GTR-base" in text
    assert "nearest stands in for the paper's Vec2Text" in text
    assert "fiqa: FiQA with" in text
    assert "start from nothing" not in text


def test_generative_attacks_without_a_prior_say_so(lab: Lab, tmp_path: Path) -> None:
    away = replace(lab, data=tmp_path, out=tmp_path / "measured")
    assert "geia start from nothing" in " ".join(measure(away, NAME, "", [_request(attack="geia")]).notes)
    given = replace(away, priors={"geia": tmp_path})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("reproduction.lab.prior_digest", lambda _: "digest")
        assert "from nothing" not in " ".join(measure(given, NAME, "", [_request(attack="geia")]).notes)
