from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.corpora import QUICK, toy_concept, toy_grid, toy_plan, toy_texts
from support.embedders import WordEmbedder
from support.veils import made_veil

from vecveil.audit import AuditPlan, Budget, prepare
from vecveil.audit.defences import Rewritten, Undefended
from vecveil.core.digests import json_digest

LITERAL = tuple(Budget(value=value, scale="literal") for value in (4.0, 8.0))
PLAN = AuditPlan(
    attacks=(QUICK, "nearest"),
    tasks=("neighbours", "neighbours,protected=documents"),
    budgets=LITERAL,
    baselines=("remove",),
    seeds=(3, 5),
)


def _names(plan: AuditPlan) -> list[tuple[int, str, str]]:
    return [(setting.seed, setting.defence, setting.asked) for setting, _ in toy_grid(plan, texts=200).defences]


def test_no_defence_comes_first_then_noise_then_rewritten_texts_for_every_seed() -> None:
    one = [
        ("none", ""),
        *((name, asked) for name in ("laplace", "purkayastha", "veil") for asked in ("ε = 4", "ε = 8")),
        ("remove", ""),
    ]
    assert _names(PLAN) == [(seed, *point) for seed in (3, 5) for point in one]


def test_only_the_named_defences_are_there_beside_none() -> None:
    assert _names(replace(PLAN, defences=("veil",), baselines=(), seeds=(0,))) == [
        (0, "none", ""),
        (0, "veil", "ε = 4"),
        (0, "veil", "ε = 8"),
    ]
    assert _names(replace(PLAN, defences=(), baselines=(), seeds=(0,))) == [(0, "none", "")]


def test_every_probe_task_and_attack_meets_every_defence_once() -> None:
    grid = toy_grid(PLAN, texts=200)
    cells = list(grid.cells())
    assert len(cells) == 2 * 8 * (2 + 2 + 2)
    assert len({json_digest(cell.key) for cell in cells}) == len(cells)
    for setting, _ in grid.defences:
        assert [cell.name for cell in cells if cell.setting == setting] == ["linear", "mlp", *PLAN.tasks, *PLAN.attacks]


def test_the_control_of_a_seed_is_computed_before_anything_else_of_it() -> None:
    for seed in (3, 5):
        defences = [cell.setting.defence for cell in toy_grid(PLAN, texts=200).cells() if cell.setting.seed == seed]
        assert defences[:6] == ["none"] * 6
        assert "none" not in defences[6:]


def test_defences_are_what_their_settings_say() -> None:
    found = {setting.defence: defence for setting, defence in toy_grid(PLAN, texts=200).defences}
    assert isinstance(found["none"], Undefended)
    assert isinstance(found["remove"], Rewritten)
    assert not found["remove"].noisy
    assert found["laplace"].noisy


def _identity(**changes: Any) -> dict[str, Any]:
    plan = changes.pop("plan", toy_plan(tasks=("neighbours",)))
    given = {"veil": made_veil(), "concept": toy_concept(), "texts": toy_texts(200), **changes}
    return prepare(plan, **given, embedder=WordEmbedder()).identity()


@pytest.mark.parametrize(
    ("changes", "different"),
    [
        ({}, set()),
        ({"veil": made_veil(epsilon=3.0)}, {"veil"}),
        ({"texts": toy_texts(201)}, {"texts", "tasks"}),
        ({"concept": toy_concept().parts[0]}, {"texts"}),
        ({"plan": toy_plan(2.0, tasks=("neighbours",))}, {"budgets"}),
        ({"plan": toy_plan(seeds=(1,), tasks=("neighbours",))}, {"seeds"}),
        ({"plan": toy_plan(tasks=("neighbours,queries=20",))}, {"tasks"}),
    ],
)
def test_whatever_moves_a_number_makes_another_audit(changes: dict[str, Any], different: set[str]) -> None:
    one, other = _identity(), _identity(**changes)
    assert {name for name in one if one[name] != other[name]} == different


def test_the_identity_tells_nothing_private() -> None:
    told = repr(_identity())
    assert not any(word in told for text in toy_texts(200) for word in text.split() if len(word) > 5)
