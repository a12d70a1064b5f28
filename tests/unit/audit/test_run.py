from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.command_line import CommandLine, listing
from support.corpora import ILLNESSES, QUICK, toy_concept, toy_texts, write_toy_place
from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.audit import AuditPlan, AuditResult, Experiment, audit, default_budgets, with_default_attacks
from vecveil.core.errors import InvalidInputError, VecveilError
from vecveil.veil import Veil, learn
from vecveil.veil.budget import Budget

HALF = Budget(value=0.5, scale="noise-ratio")
AVERAGING = "averaging,base=nearest,releases=2"
SMALL: dict[str, Any] = {
    "attacks": (AVERAGING,),
    "tasks": ("neighbors,queries=50",),
    "budgets": (HALF,),
    "defenses": ("veil",),
}


def _audit(veil: Veil | None = None, **settings: Any) -> AuditResult:
    given = {"concept": toy_concept(), "embedder": WordEmbedder(), **SMALL, **settings}
    return audit(veil or made_veil(), toy_texts(200), **given)


class _PlanMadeError(VecveilError):
    """Ends an audit as soon as its plan is made."""


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[AuditPlan]:
    """The plans of audits that are asked for; none of them runs."""
    made: list[AuditPlan] = []

    def stop(plan: AuditPlan, *_: Any, **__: Any) -> Any:
        made.append(plan)
        raise _PlanMadeError("no further")

    for module in ("vecveil.audit", "vecveil.audit.run"):
        monkeypatch.setattr(sys.modules[module], "prepare_audit", stop)
    return made


@pytest.mark.parametrize("epsilon", [None, 7.5])
def test_one_call_has_the_defaults_of_the_command_line(
    run: CommandLine, work: Path, plans: list[AuditPlan], epsilon: float | None
) -> None:
    write_toy_place(work)
    veil = replace(Veil.load(work / "a.veil"), epsilon=epsilon)
    veil.save(work / "a.veil", overwrite=True)
    run("audit", "a.veil", "notes.txt", "--out", "out", "--concept", "concept.toml")
    with pytest.raises(_PlanMadeError):
        audit(veil, toy_texts(200), concept=toy_concept())
    by_command, by_call = plans
    assert by_call == by_command
    assert by_call.attacks == ("nearest", "averaging,releases=8")
    assert by_call.defenses == ("laplace", "purkayastha", "veil")
    assert [budget.asked for budget in by_call.budgets] == (
        ["noise 0.5", "noise 1", "noise 2"] if epsilon is None else ["ε = 7.5"]
    )


def test_one_call_gives_what_the_command_line_gives(run: CommandLine, work: Path) -> None:
    write_toy_place(work)
    options = ("--noise-ratio", "0.5", "--defense", "veil", "--task", "neighbors,queries=50", "--attack", AVERAGING)
    outcome = run("audit", "a.veil", "notes.txt", "--out", "out", "--concept", "concept.toml", *options)
    assert outcome.code == 0, outcome.err
    by_command = Experiment(work / "out").read("results.json", AuditResult)
    by_call = audit(Veil.load("a.veil"), toy_texts(200), concept=toy_concept(), **SMALL)
    assert by_call.plan_digest == by_command.plan_digest
    assert [replace(row, seconds=0.0) for row in by_call.attacks] == [
        replace(row, seconds=0.0) for row in by_command.attacks
    ]
    assert by_call.verdicts == by_command.verdicts


def test_what_is_found_can_be_kept_and_is_not_computed_again(tmp_path: Path) -> None:
    result = _audit(out=tmp_path / "audit")
    assert Experiment(tmp_path / "audit").read("results.json", AuditResult) == result
    cells = listing(tmp_path / "audit" / "cells")
    again = _audit(out=str(tmp_path / "audit"))
    assert replace(again, finished=result.finished) == result
    assert listing(tmp_path / "audit" / "cells") == cells
    with pytest.raises(InvalidInputError, match="another plan: budgets"):
        _audit(out=tmp_path / "audit", budgets=(Budget(value=1.0, scale="noise-ratio"),))


def test_nothing_is_left_where_no_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = _audit()
    assert [verdict.setting.asked for verdict in result.verdicts] == ["noise 0.5"]
    assert list(tmp_path.iterdir()) == []


def test_further_settings_are_those_of_a_plan(plans: list[AuditPlan]) -> None:
    with pytest.raises(_PlanMadeError):
        _audit(grid="int8", keyed=True, seeds=(1, 2))
    assert (plans[0].grid, plans[0].keyed, plans[0].seeds) == ("int8", True, (1, 2))
    with pytest.raises(TypeError, match="tolerence"):
        _audit(tolerence=0.3)


def test_an_audit_of_int8_says_so_in_its_sheet() -> None:
    result = _audit(grid="int8", tasks=())
    assert result.plan["grid"] == "int8"
    [sheet] = result.sheets
    assert sheet.setting.readings is not None
    guarantee = made_veil().guarantee(epsilon=sheet.setting.readings.epsilon, grid="int8")
    assert (sheet.text, sheet.warnings) == (guarantee.body, guarantee.warnings)
    assert "int8" in sheet.text


def test_a_veil_that_keeps_its_concept_tells_what_is_private() -> None:
    texts = toy_texts(200)
    kept = learn(toy_concept(), texts, embedder=WordEmbedder(), shape="uniform", keep_concept=True)
    result = audit(kept, texts, embedder=WordEmbedder(), **SMALL)
    assert result.corpus["tokens_by_category"].keys() == {"CITY", "ILLNESS"}


def test_without_a_concept_one_must_be_named() -> None:
    with pytest.raises(InvalidInputError, match=r"concept=: the veil was learned without keep_concept") as caught:
        audit(made_veil(), toy_texts(200), embedder=WordEmbedder())
    assert not any(illness in str(caught.value) for illness in ILLNESSES)


@pytest.mark.parametrize(
    ("attacks", "releases", "expected"),
    [
        ((), 8, ("nearest", "averaging,releases=8")),
        ((QUICK,), 4, (QUICK, "nearest", "averaging,releases=4")),
        (("nearest,neighbors=3",), 8, ("nearest,neighbors=3", "averaging,releases=8")),
        (("averaging,releases=2",), 8, ("averaging,releases=2", "nearest")),
        ((), 1, ("nearest",)),
    ],
)
def test_cheap_attacks_always_run_and_never_twice(
    attacks: tuple[str, ...], releases: int, expected: tuple[str, ...]
) -> None:
    assert with_default_attacks(attacks, releases=releases) == expected


def test_budgets_are_those_that_are_named_or_the_veils_own_or_some() -> None:
    assert default_budgets(made_veil(epsilon=3.0), [HALF]) == (HALF,)
    assert default_budgets(made_veil(epsilon=3.0)) == (Budget(value=3.0, scale="literal"),)
    assert [budget.asked for budget in default_budgets(made_veil())] == ["noise 0.5", "noise 1", "noise 2"]
