from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from support.command_line import CommandLine, listing
from support.corpora import ILLNESSES, TOY_EMBEDDER, toy_concept, toy_texts, write_toy_place
from support.embedders import WordEmbedder
from support.veils import made_veil
from vecveil.accounting import MeasuredGuess
from vecveil.audit import AuditPlan, AuditResult, Experiment, audit, collect_budgets, make_plan
from vecveil.audit.plan import ATTACKS, TASKS
from vecveil.core.errors import InvalidInputError, VecveilError, VecveilWarning
from vecveil.veil import Veil, learn
from vecveil.veil.budget import Budget

HALF = Budget(value=0.5, scale="noise-ratio")
AVERAGING = "averaging,base=nearest,releases=2"
SMALL: dict[str, Any] = {
    "attacks": (AVERAGING,),
    "tasks": ("neighbors,queries=50",),
    "noise_ratio": 0.5,
    "defenses": ("veil",),
    "baselines": (),
    "blanks": 8,
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

    for module in ("vecveil.cli.audit", "vecveil.audit.run"):
        monkeypatch.setattr(import_module(module), "prepare_audit", stop)
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
    assert (by_call.attacks, by_call.tasks) == (ATTACKS, TASKS)
    assert (by_call.defenses, by_call.baselines) == (("laplace", "veil"), ("remove",))
    assert by_call.equal_search == (epsilon is not None)
    assert [budget.asked for budget in by_call.budgets] == (
        ["noise 0.5", "noise 1", "noise 2"] if epsilon is None else ["ε = 7.5"]
    )


@pytest.mark.filterwarnings("ignore:the vectors come from a file, and no model is at hand")
def test_one_call_gives_what_the_command_line_gives(run: CommandLine, work: Path) -> None:
    write_toy_place(work)
    options = ("--noise-ratio", "0.5", "--defense", "veil", "--task", "neighbors,queries=50", "--attack", AVERAGING)
    options += ("--baseline", "none", "--blanks", "8")
    outcome = run(
        "audit",
        "a.veil",
        "notes.txt",
        "--out",
        "out",
        "--concept",
        "concept.toml",
        "--embedder",
        TOY_EMBEDDER,
        *options,
    )
    assert outcome.code == 0, outcome.err
    by_command = Experiment(work / "out").read("results.json", AuditResult)
    by_call = audit(Veil.load("a.veil"), toy_texts(200), concept=toy_concept(), embedder=TOY_EMBEDDER, **SMALL)
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
        _audit(out=tmp_path / "audit", noise_ratio=1.0)


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
    kept = learn(toy_concept(), texts, embedder=WordEmbedder(), shape="uniform")
    result = audit(kept, texts, embedder=WordEmbedder(), **SMALL)
    assert result.corpus["tokens_by_category"].keys() == {"CITY", "ILLNESS"}


def test_without_a_concept_one_must_be_named() -> None:
    with pytest.raises(InvalidInputError, match=r"does not tell what is private: name the concept") as caught:
        audit(made_veil(), toy_texts(200), embedder=WordEmbedder())
    assert not any(illness in str(caught.value) for illness in ILLNESSES)


def test_budgets_are_those_that_are_named_or_the_veils_own_or_some() -> None:
    assert make_plan(made_veil(epsilon=3.0), budgets=[HALF]).budgets == (HALF,)
    assert make_plan(made_veil(epsilon=3.0)).budgets == (Budget(value=3.0, scale="literal"),)
    assert [budget.asked for budget in make_plan(made_veil()).budgets] == ["noise 0.5", "noise 1", "noise 2"]


def test_budgets_can_be_named_in_all_three_ways() -> None:
    found = collect_budgets({"epsilon": 8.0, "noise_ratio": (0.5, 1.0), "paper_epsilon": None})
    assert [budget.asked for budget in found] == ["ε = 8", "noise 0.5", "noise 1"]


def test_own_queries_are_what_search_is_measured_by(tmp_path: Path) -> None:
    plan = make_plan(made_veil(), queries=tmp_path / "asked.txt")
    assert plan.tasks == (f"queries:{tmp_path / 'asked.txt'}", *TASKS)


def test_the_overview_says_how_many_of_the_first_ten_a_query_still_finds(tmp_path: Path) -> None:
    (tmp_path / "asked.txt").write_text("\n".join(toy_texts(200)[:20]))
    result = _audit(tasks=(), queries=tmp_path / "asked.txt")
    before, after = (row for row in result.overview if row.defense in {"none", "veil"})
    score = next(row.scores["overlap@10"] for row in result.tasks if row.setting.own)
    assert before.overlap == 1
    assert after.overlap == score < 1
    assert "overlap" in str(result).splitlines()[0]
    assert "share that it still finds" in result.note


def test_a_veil_may_be_named_by_its_folder(tmp_path: Path) -> None:
    made_veil().save(tmp_path / "a.veil")
    given = {"concept": toy_concept(), "embedder": WordEmbedder(), **SMALL}
    result = audit(tmp_path / "a.veil", toy_texts(200), **given)
    assert result.veil["digest"] == made_veil().digest()


def test_a_result_prints_as_a_table_with_its_verdict() -> None:
    result = _audit(tasks=("known-item,words=2,queries=50",), baselines=("remove",))
    assert [row.defense for row in result.overview] == [
        "none",
        "redaction",
        "veil",
        "guessing",
    ]
    shown = str(result)
    assert shown.splitlines()[0].split() == ["defense", "search", "unnamed", "reranked", "words", "blank", "presence"]
    assert result.sentence in shown
    assert len(re.findall(r"\w[\w-]*", result.sentence)) <= 50
    assert f"verdict: {result.outcome}" in shown
    assert result.passed == (result.outcome == "pass")
    drawn = result._repr_html_()
    assert drawn.startswith('<table><tr><th scope="col">defense</th><th scope="col">search</th>')
    assert '<tr><th scope="row">veil</th><td>' in drawn
    assert not any(word in shown for word in ILLNESSES)


def test_a_result_says_how_many_candidates_to_rerank_and_how_often_a_guess_is_right() -> None:
    result = _audit(tasks=("known-item,words=2,queries=50",), keep_utility=0.9)
    assert result.reranking is not None
    assert (result.reranking.level, result.reranking.setting.own) == (0.9, True)
    assert result.reranking_sentence in str(result)
    assert "90 % of all searches" in result.reranking_sentence
    [own] = [row for row in result.blanks if row.setting.own]
    ends = {"right": own.right.value, "low": own.right.low, "high": own.right.high}
    assert result.best_guess == MeasuredGuess(**ends, chance=own.chance, texts=own.texts)
    other = _audit(blanks=0)
    assert (other.reranking, other.reranking_sentence, other.best_guess) == (None, "", None)


def test_a_result_is_a_frame_of_numbers() -> None:
    frame = _audit().frame()
    assert {"attack", "probe", "blank", "task"} == set(frame["kind"])
    own = frame[(frame.kind == "blank") & (frame.measure == "right") & (frame.defense == "none")]
    assert own["value"].tolist() == [1.0]


def test_plain_noise_keeps_as_much_search_as_the_veil() -> None:
    veil = replace(made_veil(), epsilon=made_veil().epsilon_for(noise_ratio=0.4))
    settings = {**SMALL, "tasks": ("neighbors",), "defenses": ("laplace", "veil"), "noise_ratio": None}
    result = audit(veil, toy_texts(200), concept=toy_concept(), embedder=WordEmbedder(), **settings)
    kept = {row.setting.defense: row.scores[row.main] for row in result.tasks}
    assert kept["laplace"] == pytest.approx(kept["veil"], abs=0.06)
    [plain] = {row.setting.asked for row in result.tasks if row.setting.defense == "laplace"}
    assert plain == "equal search"
    assert [row.defense for row in result.overview] == [
        "none",
        "LapMech",
        "veil",
        "guessing",
    ]


def test_groups_are_read_as_a_whole_and_stay_on_one_side_of_the_split() -> None:
    texts = toy_texts(400)
    groups = [f"person {number // 4}" for number in range(400)]
    given = {**SMALL, "attacks": ("nearest",), "tasks": ()}
    result = audit(made_veil(), texts, concept=toy_concept(), embedder=WordEmbedder(), groups=groups, **given)
    names = {row.attack for row in result.attacks}
    assert names == {"nearest", "nearest, whole groups"}
    whole = next(row for row in result.attacks if row.attack == "nearest, whole groups")
    single = next(row for row in result.attacks if row.attack == "nearest")
    assert whole.texts < single.texts
    # The worst that are named are records.
    assert not any(one.grouped for one in result.exposures)
    with pytest.raises(InvalidInputError, match="groups must be one for each text, got 399 for 400 texts"):
        audit(made_veil(), texts, concept=toy_concept(), embedder=WordEmbedder(), groups=groups[1:], **given)


def test_records_are_called_by_their_ids() -> None:
    result = _audit(ids=[f"note-{number}" for number in range(200)])
    assert all(one.record.startswith("note-") for one in result.exposures)


def test_without_a_model_nothing_is_asked_that_needs_one(work: Path) -> None:
    write_toy_place(work)
    with pytest.warns(VecveilWarning, match="no model is at hand: fill in the blank, known-item and queries are left"):
        result = audit("a.veil", toy_texts(200), noise_ratio=0.5, attacks=("nearest",), defenses=("veil",))
    assert result.blanks == ()
    assert {row.task for row in result.tasks} == {"neighbors"}
    assert [part.part for part in result.verdicts[0].parts] == ["words", "presence"]
