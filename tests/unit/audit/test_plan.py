from __future__ import annotations

import json
from typing import Any

import pytest

from vecveil.audit import AuditPlan
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.veil.budget import Budget

SETTINGS: dict[str, Any] = {
    "attacks": ("mlc",),
    "tasks": ("neighbors",),
    "budgets": (Budget(value=1.0, scale="noise-ratio"),),
}


def test_a_plan_is_plain_data() -> None:
    plan = AuditPlan(**SETTINGS)
    assert json.loads(json.dumps(plan.settings())) == {
        "attacks": ["mlc"],
        "tasks": ["neighbors"],
        "budgets": [{"value": 1.0, "scale": "noise-ratio"}],
        "defenses": ["laplace", "veil"],
        "baselines": ["remove"],
        "equal_search": False,
        "seeds": [0],
        "copies": 2,
        "grid": "float32",
        "keyed": False,
        "near_copies": None,
        "tolerance": {"words": 0.25, "presence": 0.25, "blank": 0.25},
        "blanks": 64,
        "candidates": 25,
        "examples": 6,
        "judge": "",
        "keep_utility": 0.95,
    }


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"budgets": ()}, "a budget at least"),
        ({"seeds": ()}, "a seed at least"),
        ({"seeds": (0, -1)}, "seed must be a whole number of at least 0, got -1"),
        ({"seeds": (0.5,)}, "seed must be a whole number"),
        ({"copies": 0}, "copies must be a whole number of at least 1, got 0"),
        ({"examples": -1}, "examples must be a whole number of at least 0, got -1"),
        ({"blanks": -1}, "blanks must be a whole number of at least 0, got -1"),
        ({"candidates": 1}, "candidates must be a whole number of at least 2, got 1"),
        ({"tasks": (), "equal_search": True}, "as much search as the veil needs a task, got none"),
        ({"near_copies": 1.5}, "near_copies must lie between 0 and 1, got 1.5"),
        ({"keep_utility": 95.0}, "keep_utility must lie between 0 and 1, got 95.0"),
        ({"attacks": ("mlc", "nearest", "mlc")}, "attacks of an audit must differ, got 'mlc' twice"),
        ({"seeds": (1, 2, 1)}, "seeds of an audit must differ, got 1 twice"),
        ({"baselines": ("remove", "remove")}, "'remove' twice"),
        ({"defenses": ("veil", "veil")}, "'veil' twice"),
        ({"defenses": ("mahalanobis",)}, "needs a shape, which only the veil has"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        AuditPlan(**{**SETTINGS, **settings})


def test_budgets_must_differ_in_what_tables_call_them() -> None:
    # Six digits of both are the same, and their rows would be taken for repetitions of one.
    budgets = tuple(Budget(value=value, scale="literal") for value in (1.0, 1.0000001))
    with pytest.raises(InvalidInputError, match="'ε = 1' twice"):
        AuditPlan(**{**SETTINGS, "budgets": budgets})
    different = tuple(Budget(value=1.0, scale=scale) for scale in ("literal", "paper", "noise-ratio"))
    assert AuditPlan(**{**SETTINGS, "budgets": different}).budgets == different


def test_an_unknown_defense_is_guessed() -> None:
    with pytest.raises(UnknownNameError, match="unknown defense 'vel'; did you mean 'veil'"):
        AuditPlan(**{**SETTINGS, "defenses": ("vel",)})


def test_an_unknown_grid_is_guessed() -> None:
    with pytest.raises(UnknownNameError, match="unknown grid 'int9'; did you mean 'int8'"):
        AuditPlan(**{**SETTINGS, "grid": "int9"})


def test_attacks_are_named_without_their_prior_and_numbered_where_two_have_one_name() -> None:
    specs = ("geia:secret/place/of/weights", "mlc", "mlc,epochs=5", "vec2text:x,steps=0")
    labels = AuditPlan(**{**SETTINGS, "attacks": specs}).attack_labels
    assert labels == dict(zip(specs, ("geia", "mlc 1", "mlc 2", "vec2text"), strict=True))
