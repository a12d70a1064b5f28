"""The frontier on a corpus whose private words are easy to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.corpora import ILLNESSES, QUICK, toy_concept, toy_texts
from support.embedders import WordEmbedder

from vecveil.audit import AuditFolder
from vecveil.audit.frontier import FrontierPlan, FrontierResult, calibrate, prepare_frontier
from vecveil.audit.frontier.bench import Bench
from vecveil.audit.frontier.contender import Contender
from vecveil.audit.frontier.evidence import evidence
from vecveil.audit.frontier.level import LEAST
from vecveil.audit.frontier.prepare import make_bench
from vecveil.audit.frontier.results import NO_DEFENCE, REDACTED, over_seeds
from vecveil.audit.frontier.target import Target, learn_to_target
from vecveil.concepts.passage import passages
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import silent

LEVELS = (0.97, 0.8)


def _plan(**settings: Any) -> FrontierPlan:
    known: dict[str, Any] = {
        "contenders": ("uniform", "canonical"),
        "attacks": (QUICK, "nearest"),
        "levels": LEVELS,
        "guides": (QUICK,),
        "seeds": (0, 1),
    }
    return FrontierPlan(**(known | settings))


def _frontier(folder: Path, **settings: Any) -> Any:
    texts = passages(toy_texts())
    return prepare_frontier(_plan(**settings), toy_concept(), texts, AuditFolder(folder), embedder=WordEmbedder())


@pytest.fixture(scope="module")
def bench() -> Bench:
    return make_bench(
        toy_concept(),
        passages(toy_texts()),
        tasks=(),
        embedder=WordEmbedder(),
        copies=1,
        near_copies=None,
        cache=None,
        progress=silent,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("frontier") / "out"


@pytest.fixture(scope="module")
def result(place: Path) -> FrontierResult:
    return _frontier(place).run()


def test_every_cell_is_there(result: FrontierResult) -> None:
    assert len(result.rows) == 2 * 2 * (2 + 2 * len(LEVELS))
    assert {row.contender for row in result.rows} == {NO_DEFENCE, REDACTED, "uniform", "canonical"}


def test_defences_meet_in_utility(result: FrontierResult) -> None:
    for row in result.rows:
        if row.level < 1 and row.noise_ratio > LEAST:
            assert row.utility == pytest.approx(row.level, abs=0.03)


def test_leaving_directions_out_leaks_less_at_equal_utility(result: FrontierResult) -> None:
    for level in LEVELS:
        plain, ours = (result.strongest(name, level) for name in ("uniform", "canonical"))
        assert plain is not None
        assert ours is not None
        assert ours[1].value < 0.7 * plain[1].value


def test_the_strongest_attack_counts(result: FrontierResult) -> None:
    found = result.strongest(NO_DEFENCE, 1.0)
    assert found is not None
    assert found[1].value == max(
        estimate.value for attack in result.plan["attacks"] if (estimate := result.excess(NO_DEFENCE, 1.0, attack))
    )


def test_a_finished_comparison_is_not_computed_again(
    result: FrontierResult, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bench, "attacked", None)
    assert _frontier(place).run() == result


def test_another_comparison_does_not_go_into_the_same_folder(result: FrontierResult, place: Path) -> None:
    with pytest.raises(InvalidInputError, match="choose another folder"):
        _frontier(place, levels=(0.9,)).run()


def test_defences_learn_nothing_from_what_attacks_are_tested_on(bench: Bench) -> None:
    train, held_out, test = bench.corpus.split(3)
    pairs, labelled = evidence(bench.corpus, [*train, *held_out])
    tested = {bench.corpus.texts[row] for row in test}
    assert not tested & set(labelled.texts)
    assert len(labelled.texts) == len(train) + len(held_out)
    clean = {vector.tobytes() for vector in bench.corpus.clean[test]}
    assert not clean & {vector.tobytes() for vector in pairs.with_concept} - {
        vector.tobytes() for vector in labelled.vectors
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"contenders": ()}, "one of its contenders"),
        ({"contenders": ("canonicle",)}, "did you mean 'canonical'"),
        ({"contenders": ("uniform", "uniform")}, "must differ"),
        ({"attacks": ("mlk",)}, "did you mean 'mlc'"),
        ({"levels": (1.5,)}, "level"),
        ({"seeds": (-1,)}, "seed"),
        ({"near_copies": 2.0}, "near_copies"),
    ],
)
def test_a_wrong_plan_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _plan(**settings)


def test_an_interval_over_seeds_is_students() -> None:
    found = over_seeds([0.1, 0.2, 0.3])
    assert found is not None
    assert found.value == pytest.approx(0.2)
    assert found.high - found.value == pytest.approx(4.302653 * 0.1 / np.sqrt(3), rel=1e-5)
    assert over_seeds([]) is None


def test_the_utility_to_keep_names_a_point(bench: Bench) -> None:
    found = calibrate(bench, Contender("canonical"), attack=QUICK, keep_utility=0.85, levels=(0.97,))
    chosen = found.points[found.chosen]
    assert chosen.choice.level == 0.85
    assert [point.choice.level for point in found.points] == [0.97, 0.85]
    assert chosen.leakage < found.undefended
    again = calibrate(bench, Contender("canonical"), attack=QUICK, keep_utility=0.85, levels=(0.97,))
    assert again == found


def test_the_most_leakage_names_the_point_with_the_most_utility(bench: Bench) -> None:
    found = calibrate(bench, Contender("canonical"), attack=QUICK, max_leakage=0.2, levels=(0.97, 0.7))
    assert found.chosen == 0
    with pytest.raises(InvalidInputError, match=r"at no level does the attack read 0\.1% or less; the least was"):
        calibrate(bench, Contender("uniform"), attack=QUICK, max_leakage=0.001, levels=(0.97,))


def test_a_target_becomes_a_veil_with_its_budget() -> None:
    veil, found = learn_to_target(
        toy_concept(),
        toy_texts(),
        Target(keep_utility=0.8, attack=QUICK),
        embedder=WordEmbedder(),
    )
    choice = found.points[found.chosen].choice
    assert veil.epsilon is not None
    assert veil.shape.dimensions - veil.shape.released == choice.directions
    assert veil.mechanism_at(veil.epsilon).noise_ratio(veil.typical.signal) == pytest.approx(choice.noise_ratio)


def test_what_learning_would_refuse_is_refused_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bench, "attacked", None)
    texts = [*toy_texts(), ILLNESSES[0]]
    with pytest.raises(InvalidInputError, match="drop_empty"):
        learn_to_target(toy_concept(), texts, Target(keep_utility=0.8, attack=QUICK), embedder=WordEmbedder())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "name one target"),
        ({"keep_utility": 0.9, "max_leakage": 0.1}, "name one target"),
        ({"keep_utility": 1.9}, "keep_utility"),
        ({"max_leakage": -0.1}, "max_leakage"),
        ({"keep_utility": 0.9, "attack": "mlk"}, "did you mean 'mlc'"),
    ],
)
def test_a_wrong_target_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Target(**settings)
