"""The frontier on a corpus whose private words are easy to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.command_line import listing
from support.corpora import CITIES, ILLNESSES, QUICK, TOY_TASK, toy_concept, toy_texts
from support.embedders import WordEmbedder
from vecveil.audit import Experiment
from vecveil.audit.frontier import Frontier, FrontierPlan, FrontierResult, Workbench, prepare_frontier
from vecveil.audit.frontier.frontier import RESULT
from vecveil.audit.frontier.results import NO_DEFENSE, REDACTED
from vecveil.audit.noise_search import LEAST_NOISE
from vecveil.concepts.passage import passages
from vecveil.core.errors import InvalidInputError

LEVELS = (0.6, 0.4)


def _plan(**settings: Any) -> FrontierPlan:
    known: dict[str, Any] = {
        "contenders": ("uniform", "canonical"),
        "attacks": (QUICK, "nearest"),
        "levels": LEVELS,
        "tasks": (TOY_TASK,),
        "guides": ("nearest",),
        "seeds": (0, 1),
    }
    return FrontierPlan(**(known | settings))


def _frontier(folder: Path, **settings: Any) -> Frontier:
    texts = passages(toy_texts(200))
    return prepare_frontier(_plan(**settings), toy_concept(), texts, Experiment(folder), embedder=WordEmbedder())


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("frontier") / "out"


@pytest.fixture(scope="module")
def result(place: Path) -> FrontierResult:
    return _frontier(place).run()


def test_every_cell_is_there(result: FrontierResult) -> None:
    assert len(result.rows) == 2 * 2 * (2 + 2 * len(LEVELS))
    assert {row.contender for row in result.rows} == {NO_DEFENSE, REDACTED, "uniform", "canonical"}
    assert {(choice.contender, choice.level) for choice in result.choices} == {
        (name, level) for name in ("uniform", "canonical") for level in LEVELS
    }


def test_references_have_neither_noise_nor_budget(result: FrontierResult) -> None:
    for point in result.points:
        assert (point.epsilon is None) == (point.noise_ratio == 0.0) == (point.contender in {NO_DEFENSE, REDACTED})
    assert {point.utility for point in result.points if point.contender == NO_DEFENSE} == {1.0}


def test_defenses_meet_in_utility(result: FrontierResult) -> None:
    for point in result.points:
        if point.level < 1 and point.noise_ratio > LEAST_NOISE:
            assert point.utility == point.search == pytest.approx(point.level, abs=0.03)


def test_every_point_says_how_often_a_blank_is_filled_in(result: FrontierResult) -> None:
    for point in result.points:
        assert point.blank is not None
        assert 0 <= point.blank <= 1
        if point.contender == NO_DEFENSE:
            assert point.blank == 1.0
        if point.contender == REDACTED:
            assert point.blank == pytest.approx(point.blank_chance)


def test_leaving_directions_out_leaks_less_at_equal_utility(result: FrontierResult) -> None:
    for level in LEVELS:
        plain, ours = (result.strongest(name, level) for name in ("uniform", "canonical"))
        assert plain is not None
        assert ours is not None
        assert ours[1].value < plain[1].value


def test_results_hold_no_private_word(result: FrontierResult, place: Path) -> None:
    assert Experiment(place).read(RESULT, FrontierResult) == result
    written = b"".join(listing(place).values()).decode()
    assert not any(word in written for word in ILLNESSES + CITIES)


def test_a_finished_comparison_is_not_computed_again(
    result: FrontierResult, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("attack", "choose", "learn"):
        monkeypatch.setattr(Workbench, name, None)
    assert _frontier(place).run() == result


def test_another_comparison_does_not_go_into_the_same_folder(result: FrontierResult, place: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"another plan: frontier .* choose another folder"):
        _frontier(place, levels=(0.9,)).run()


def test_a_level_that_cannot_be_kept_has_no_rows(tmp_path: Path) -> None:
    plan = {"contenders": ("uniform",), "attacks": ("nearest",), "levels": (0.9999,), "seeds": (0,)}
    result = _frontier(tmp_path / "out", **plan).run()
    assert [(choice.noise_ratio, choice.tried) for choice in result.choices] == [(None, {})]
    assert {row.contender for row in result.rows} == {NO_DEFENSE, REDACTED}
    assert result.strongest("uniform", 0.9999) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"contenders": ()}, "one of its contenders"),
        ({"contenders": ("canonicle",)}, "did you mean 'canonical'"),
        ({"contenders": ("uniform", "uniform")}, "must differ"),
        ({"attacks": ("mlk",)}, "did you mean 'mlc'"),
        ({"guides": ("mlk",)}, "did you mean 'mlc'"),
        ({"levels": (1.5,)}, "level"),
        ({"seeds": (-1,)}, "seed"),
        ({"copies": 0}, "copies"),
        ({"near_copies": 2.0}, "near_copies"),
    ],
)
def test_a_wrong_plan_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _plan(**settings)
