"""`vecveil audit`, with vectors that need no model."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from support.audits import DEFENSES, RATIOS, made_audit
from support.command_line import CommandLine, check_refusal, listing
from support.corpora import CITIES, ILLNESSES, TOY_EMBEDDER, toml_of, toy_texts, write_vectors
from support.veils import made_veil
from vecveil.audit import RESULTS, AuditResult, Experiment, Tolerance
from vecveil.audit.attack_runner import AttackRunner
from vecveil.audit.plan import ATTACKS, TASKS
from vecveil.audit.result import HEADINGS
from vecveil.cli.audit import overview_table, verdict_lines
from vecveil.concepts import terms
from vecveil.reports.verdict_tables import part_summaries
from vecveil.veil import Veil

PRIVATE = ILLNESSES + CITIES
EMBEDDER = ("--embedder", TOY_EMBEDDER)
QUICK = ("--attack", "nearest", "--task", "neighbors", "--blanks", "0", "--baseline", "none", "--defense", "veil")
AUDIT = ("audit", "a.veil", "notes.txt", "--out", "out", *QUICK, *EMBEDDER)
BUDGET = ("--noise-ratio", "1")


def test_an_audit_writes_results_tables_and_report(audited_once: Path) -> None:
    names = {path.name for path in (audited_once / "out").iterdir()}
    assert {"plan.json", "results.json", "examples.json", "report.html", "tables.md", "attacks.csv", "cells"} <= names
    assert {"junit.xml", "audit.sarif", "exposure.csv", "exposure.json"} <= names
    result = Experiment(audited_once / "out").read(RESULTS, AuditResult)
    assert [row.setting.defense for row in result.attacks] == ["none", "veil"]
    assert {row.attack for row in result.attacks} == {"nearest"}
    assert [row.task for row in result.tasks] == ["neighbors"] * 2


def test_the_same_command_goes_on_and_tells_the_verdict(run: CommandLine, audited: Path) -> None:
    before = listing(audited / "out" / "cells")
    outcome = run(*AUDIT, *BUDGET, "--examples", "3")
    assert outcome.code == 0, outcome.err
    assert listing(audited / "out" / "cells") == before
    assert "private words read back: " in outcome.out
    assert outcome.out.splitlines()[-1].startswith("Verdict: fail. The strongest attack reads")
    assert "The strongest attack reads" in " ".join(outcome.out.split())
    assert "next: open out/report.html, or protect your texts:  vecveil protect a.veil notes.txt" in outcome.err
    assert not any(word in outcome.out + outcome.err for word in PRIVATE)


def test_another_plan_in_the_same_folder_is_refused(run: CommandLine, audited: Path) -> None:
    before = listing(audited / "out")
    outcome = run(*AUDIT, "--noise-ratio", "1", "2", "--examples", "3", "--concept", "concept.toml")
    check_refusal(outcome, "out holds an audit of another plan", "budgets", '"value": 1.0', hidden=PRIVATE)
    assert listing(audited / "out") == before


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (("--epsilon", "5", "10", "20"), ["ε = 5", "ε = 10", "ε = 20"]),
        (("--epsilon", "5", "--epsilon", "10"), ["ε = 5", "ε = 10"]),
        (("--epsilon=5",), ["ε = 5"]),
        (("--paper-epsilon", "5", "10"), ["ε = 5 (paper's scale)", "ε = 10 (paper's scale)"]),
        (("--noise-ratio", "0.5", "1", "--seed", "0", "1"), ["noise 0.5", "noise 1"]),
        (("--noise-ratio", "0.5", "--epsilon", "9", "--copies", "3"), ["ε = 9", "noise 0.5"]),
        ((), ["noise 0.5", "noise 1", "noise 2"]),
    ],
)
def test_budgets_are_what_was_asked_for(
    run: CommandLine, toy_place: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], asked: list[str]
) -> None:
    plans = _caught_plans(monkeypatch)
    run("audit", *options, "a.veil", "notes.txt", "--out", "out")
    [plan] = plans
    assert [budget.asked for budget in plan.budgets] == asked
    assert plan.seeds == ((0, 1) if "--seed" in options else (0,))
    assert (plan.attacks, plan.tasks) == (ATTACKS, TASKS)
    assert (plan.defenses, plan.baselines) == (("laplace", "veil"), ("remove",))
    assert not plan.equal_search


def _caught_plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows with every plan; the command ends as soon as its plan is known."""
    plans: list[Any] = []

    def caught(plan: Any, *_: Any, **__: Any) -> Any:
        plans.append(plan)
        raise KeyboardInterrupt

    # By its module: the command has its name.
    monkeypatch.setattr(import_module("vecveil.cli.audit"), "prepare_audit", caught)
    return plans


def test_the_budget_of_the_veil_is_audited_where_none_is_named(
    run: CommandLine, toy_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = _caught_plans(monkeypatch)
    made_veil(epsilon=7.0).save(toy_place / "kept.veil")
    run("audit", "kept.veil", "notes.txt", "--out", "out", "--concept", "concept.toml")
    assert [budget.asked for budget in plans[0].budgets] == ["ε = 7"]


def test_options_reach_the_plan(run: CommandLine, toy_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = _caught_plans(monkeypatch)
    options = "--attack mlc --attack averaging,releases=3 --task neighbors,queries=9 --baseline none --judge mpnet"
    more = "--tolerance 0.3 --tolerance blank=0.1 --examples 0 --defense none --queries asked.txt --blanks 9"
    run("audit", "a.veil", "notes.txt", "--out", "out", *options.split(), *more.split())
    [plan] = plans
    assert plan.attacks == ("mlc", "averaging,releases=3")
    assert plan.tasks == ("queries:asked.txt", "neighbors,queries=9")
    assert (plan.baselines, plan.defenses, plan.blanks) == ((), (), 9)
    assert (plan.judge, plan.examples) == ("mpnet", 0)
    assert plan.tolerance == Tolerance(words=0.3, presence=0.3, blank=0.1)


def test_noise_that_drowns_everything_is_warned_of(run: CommandLine, toy_place: Path) -> None:
    outcome = run(*AUDIT, "--concept", "concept.toml", "--epsilon", "0.1", "50")
    assert outcome.code == 0, outcome.err
    [warning] = [line for line in outcome.err.splitlines() if line.startswith("Warning: ")]
    assert "the noise is 84.9 times as long as an embedding" in warning
    assert "paper_epsilon" in warning


PAIRS = "sentence1,sentence2,gold\na calm day,we rest,1\n"

REFUSALS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "negative epsilon": (("--epsilon", "5", "-5"), ("epsilon must be a finite number above zero, got -5.0",)),
    "no epsilon": (("--epsilon", "0"), ("epsilon must be", "0.0")),
    "no noise": (("--noise-ratio", "0"), ("noise ratio must be", "0.0")),
    "too little noise": (("--noise-ratio", "1e-7"), ("released in clear",)),
    "twice the same": (("--epsilon", "5", "5.0"), ("budgets of an audit must differ, got 'ε = 5' twice",)),
    "negative seed": (("--seed", "0", "-1"), ("seed must be", "-1")),
    "tolerance": (("--tolerance", "20"), ("tolerance '20' must lie between 0 and 1, got 20.0",)),
    "attack": (("--attack", "mcl"), ("unknown attack 'mcl'; did you mean 'mlc'",)),
    "attack's setting": (("--attack", "mlc,epoch=2"), ("'epoch'; did you mean 'epochs'",)),
    "prior": (("--attack", "geia:nowhere"), ("there is no prior nowhere",)),
    "task": (("--task", "neighbours"), ("unknown utility task 'neighbours'; did you mean 'neighbors'",)),
    "task without file": (("--task", "sts"), ("write sts:FILE",)),
    "task of no file": (("--task", "sts:none.csv"), ("none.csv",)),
    "task without columns": (("--task", "sts:pairs.csv"), ("unknown column of pairs.csv 'score'", "gold")),
    "retrieval without files": (("--task", "retrieval:empty"), ("empty",)),
    "baseline": (("--baseline", "removal"), ("unknown rewriter 'removal'; did you mean 'remove'",)),
    "defense": (("--defense", "laplas"), ("unknown defense 'laplas'; did you mean 'laplace'",)),
    "judge": (("--judge", "mpnett"), ("unknown embedder 'mpnett'; did you mean 'mpnet'",)),
    "concept": (("--concept", "none.toml"), ("there is no concept file none.toml",)),
    "concept nowhere": (("--concept", "nowhere.toml"), ("the concept matches nothing in 200 text(s)",)),
    "column": (("--text-column", "body"), ("unknown column of notes.txt 'body'",)),
    "a file for a folder": (("--out", "notes.txt"), ("notes.txt is a file",)),
    "below a file": (("--out", "notes.txt/deep/out"), ("notes.txt/deep/out can't be a folder", "notes.txt is a file")),
    "folder of someone else": (("--out", "empty"), ("empty holds other things than an audit",)),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_bad_input_ends_in_one_line_and_leaves_nothing(run: CommandLine, toy_place: Path, case: str) -> None:
    (toy_place / "pairs.csv").write_text(PAIRS)
    (toy_place / "nowhere.toml").write_text(toml_of(("X", ["absentia"])))
    (toy_place / "empty").mkdir()
    (toy_place / "empty" / "readme.txt").write_text("mine")
    options, named = REFUSALS[case]
    defense = () if case == "defense" else ("--defense", "veil")
    quick = ("--attack", "nearest", "--task", "neighbors", "--blanks", "0")
    concept = () if "--concept" in options else ("--concept", "concept.toml")
    before = listing(toy_place)
    outcome = run("audit", "a.veil", "notes.txt", "--out", "out", *EMBEDDER, *quick, *defense, *concept, *options)
    check_refusal(outcome, *named, hidden=PRIVATE)
    assert listing(toy_place) == before


def test_the_concept_must_be_known(run: CommandLine, toy_place: Path) -> None:
    replace(Veil.load(toy_place / "a.veil"), concept=None).save(toy_place / "a.veil", overwrite=True)
    outcome = run(*AUDIT, *BUDGET)
    check_refusal(outcome, "this veil does not tell what is private: name the concept (--concept FILE")


def test_too_few_texts_are_counted(run: CommandLine, toy_place: Path) -> None:
    (toy_place / "notes.txt").write_text("\n".join((toy_place / "notes.txt").read_text().splitlines()[:80]))
    outcome = run(*AUDIT, *BUDGET, "--concept", "concept.toml")
    check_refusal(outcome, "needs at least 100 distinct texts", "got 60 among 80", hidden=PRIVATE)
    assert not (toy_place / "out").exists()


def test_ctrl_c_says_where_what_was_computed_is(
    run: CommandLine, toy_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(AttackRunner, "attack", stop)
        outcome = run(*AUDIT, *BUDGET, "--concept", "concept.toml")
    assert outcome.code == 130
    assert outcome.err.strip() == "Stopped. What was computed is kept in out; repeat the command to go on."
    # Two probes and a task on unprotected vectors.
    assert len(list((toy_place / "out" / "cells").iterdir())) == 3
    check_refusal(run("report", "out"), "out has no results.json: the run in it is not finished")
    assert run(*AUDIT, *BUDGET, "--concept", "concept.toml").code == 0


def test_the_texts_of_the_most_exposed_records_are_shown_where_that_is_asked_for(
    run: CommandLine, audited: Path
) -> None:
    before = listing(audited / "out" / "cells")
    worst = Experiment(audited / "out").read(RESULTS, AuditResult).exposures[0].record
    text = (audited / "notes.txt").read_text().splitlines()[int(worst)]
    assert run("report", "out", "--no-texts").code == 0
    assert text not in (audited / "out" / "report.html").read_text()
    assert run(*AUDIT, *BUDGET, "--examples", "3", "--show-exposed").code == 0
    page = (audited / "out" / "report.html").read_text()
    assert f'class="words">{text}</td>' in page
    assert "holds private texts" in page
    assert text not in (audited / "out" / "tables.md").read_text()
    assert listing(audited / "out" / "cells") == before


def test_no_examples_no_texts(run: CommandLine, toy_place: Path) -> None:
    outcome = run(*AUDIT, *BUDGET, "--concept", "concept.toml", "--examples", "0")
    assert outcome.code == 0, outcome.err
    content = b"".join(listing(toy_place / "out").values()).decode()
    assert not any(word in content for word in PRIVATE)


def test_a_concept_of_one_word_is_probed_only(run: CommandLine, toy_place: Path) -> None:
    (toy_place / "one.toml").write_text(toml_of(("X", ILLNESSES[:1])))
    notes = [text for text in toy_texts(1000) if ILLNESSES[0] in text or not set(text.split()) & set(PRIVATE)]
    (toy_place / "notes.txt").write_text("\n".join(notes))
    known = list(dict.fromkeys([*notes, *map(terms(ILLNESSES[0]).remove, notes)]))
    write_vectors(toy_place / "known.parquet", known)
    probed = [part for part in AUDIT if part not in {"--attack", "nearest"}]
    outcome = run(*probed, *BUDGET, "--concept", "one.toml")
    assert outcome.code == 0, outcome.err
    assert "Warning: the concept comes down to 1 sensitive word" in outcome.err
    result = Experiment(toy_place / "out").read(RESULTS, AuditResult)
    assert result.attacks == ()
    assert len(result.probes) == 4
    assert (toy_place / "out" / "report.html").exists()
    asked = run(*AUDIT, *BUDGET, "--concept", "one.toml", "--attack", "mlc")
    check_refusal(asked, "comes down to 1 sensitive word", "'mlc' can't run", hidden=PRIVATE)


def test_tables_hold_no_text(audited_once: Path) -> None:
    files = [*(audited_once / "out").glob("*.csv"), audited_once / "out" / "tables.md"]
    assert len(files) > 5
    for path in files:
        assert not any(word in path.read_text() for word in PRIVATE)


def _printed(*shown: Any) -> list[str]:
    console = Console(file=StringIO(), width=300)
    for one in shown:
        console.print(one)
    written = console.file
    assert isinstance(written, StringIO)
    return written.getvalue().splitlines()


def test_each_defense_is_a_line_and_guessing_the_last() -> None:
    result = made_audit()
    lines = [line.split() for line in _printed(overview_table(result)) if line.strip()]
    heading, rows = lines[0], [line for line in lines[1:] if line[0].strip("─")]
    assert set(heading) < set(HEADINGS)
    assert "unnamed" not in heading
    assert len(rows) == 2 + len(DEFENSES) * len(RATIOS)
    assert (rows[0][0], rows[-1][0]) == ("none", "guessing")


def test_the_heads_of_the_table_are_whole_in_a_narrow_terminal() -> None:
    drawn = StringIO()
    Console(file=drawn, width=60).print(overview_table(made_audit()))
    head = next(line for line in drawn.getvalue().splitlines() if "defense" in line)
    assert set(head.split()) < set(HEADINGS)


def test_a_part_that_does_not_pass_has_its_reasons_below_it() -> None:
    result = made_audit()
    lines = [line.strip() for line in _printed(*verdict_lines(result))]
    parts = part_summaries(result)
    assert [line.split(",")[0] for line in lines if line.startswith(tuple(f"{part.name}: " for part in parts))] == [
        f"{part.name}: {part.outcome}" for part in parts
    ]
    assert {reason for part in parts if part.outcome != "pass" for reason in part.reasons} <= set(lines)


def test_several_seeds_are_told_apart() -> None:
    parts = part_summaries(made_audit(seeds=(0, 3)))
    assert any(reason.startswith("seed 3: ") for part in parts for reason in part.reasons)


def test_an_audit_without_attacks_has_a_table_too() -> None:
    result = replace(made_audit(), attacks=(), verdicts=())
    assert any("LapMech" in line for line in _printed(overview_table(result)))


@pytest.mark.parametrize(
    ("fail_on", "ratio", "code"),
    [((), "0.05", 0), (("--fail-on", "leak"), "0.05", 2), (("--fail-on", "inconclusive"), "0.05", 2)],
)
def test_a_build_that_audits_a_leaking_index_stops(
    run: CommandLine, toy_place: Path, fail_on: tuple[str, ...], ratio: str, code: int
) -> None:
    outcome = run(*AUDIT, "--noise-ratio", ratio, "--concept", "concept.toml", *fail_on)
    assert outcome.code == code, outcome.err
    suite = ElementTree.fromstring((toy_place / "out" / "junit.xml").read_text())  # noqa: S314
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert "private words read back" in failed
    assert suite.get("failures") == str(len(failed))
    sarif = json.loads((toy_place / "out" / "audit.sarif").read_text())
    levels = {one["ruleId"]: one["level"] for one in sarif["runs"][0]["results"]}
    assert levels["words"] == "error"


def test_what_can_not_be_told_stops_a_build_with_its_own_code(run: CommandLine, toy_place: Path) -> None:
    # An attack in name only: it reads nothing out of unprotected vectors.
    useless = ("--attack", "mlc,epochs=1,hidden=[2],threshold=0.99", "--noise-ratio", "1", "--concept", "concept.toml")
    command = [part for part in AUDIT if part not in {"--attack", "nearest"}]
    tolerant = ("--tolerance", "presence=0.99")
    assert run(*command, *useless, *tolerant, "--fail-on", "leak").code == 0
    assert run(*command, *useless, *tolerant, "--fail-on", "inconclusive").code == 3
