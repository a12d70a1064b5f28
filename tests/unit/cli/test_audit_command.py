"""`vecveil audit` and `vecveil report`, with vectors that need no model."""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from support.command_line import CommandLine, check_refusal, listing
from support.corpora import CITIES, ILLNESSES, toml_of, toy_texts, write_toy_place, write_vectors
from support.veils import made_veil

import vecveil.audit as audit_package
from vecveil.audit import AuditFolder
from vecveil.audit.attacking import Attacker
from vecveil.cli.main import commands
from vecveil.concepts import terms

PRIVATE = ILLNESSES + CITIES
AUDIT = ("audit", "a.veil", "notes.txt", "--out", "out", "--defence", "veil", "--releases", "1")
BUDGET = ("--noise-ratio", "1")


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place in which an audit ran through, by the nearest neighbour alone."""
    place = tmp_path_factory.mktemp("audited")
    with chdir(place):
        write_toy_place(place)
        commands([*AUDIT, *BUDGET, "--concept", "concept.toml", "--examples", "3"], standalone_mode=False)
    return place


@pytest.fixture
def done(audited: Path, work: Path) -> Path:
    """A copy of that place, to change it, as the working folder."""
    shutil.copytree(audited, work, dirs_exist_ok=True)
    return work


@pytest.fixture
def place(work: Path) -> Path:
    write_toy_place(work)
    return work


def test_an_audit_writes_results_tables_and_report(audited: Path) -> None:
    names = {path.name for path in (audited / "out").iterdir()}
    assert {"plan.json", "results.json", "examples.json", "report.html", "tables.md", "attacks.csv", "cells"} <= names
    result = AuditFolder(audited / "out").result()
    assert [row.setting.defence for row in result.attacks] == ["none", "veil"]
    assert {row.attack for row in result.attacks} == {"nearest"}
    assert [row.task for row in result.tasks] == ["neighbours"] * 2


def test_the_same_command_goes_on_and_tells_the_verdict(run: CommandLine, done: Path) -> None:
    before = listing(done / "out" / "cells")
    outcome = run(*AUDIT, *BUDGET, "--examples", "3")
    assert outcome.code == 0, outcome.err
    assert listing(done / "out" / "cells") == before
    assert "veil, hard-concrete, noise 1: " in outcome.out
    assert "nearest" in outcome.out
    assert "concept.toml, which fits the veil" in outcome.err
    assert "report written to out/report.html" in outcome.err
    assert not any(word in outcome.out + outcome.err for word in PRIVATE)


def test_another_plan_in_the_same_folder_is_refused(run: CommandLine, done: Path) -> None:
    before = listing(done / "out")
    outcome = run(*AUDIT, "--noise-ratio", "1", "2", "--examples", "3", "--concept", "concept.toml")
    check_refusal(outcome, "out holds an audit of another plan", "budgets", '"value": 1.0', hidden=PRIVATE)
    assert listing(done / "out") == before


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (("--epsilon", "5", "10", "20"), ["ε = 5", "ε = 10", "ε = 20"]),
        (("--epsilon", "5", "--epsilon", "10"), ["ε = 5", "ε = 10"]),
        (("--epsilon=5",), ["ε = 5"]),
        (("--epsilon", "5", "10", "--scale", "paper"), ["ε = 5 (paper's scale)", "ε = 10 (paper's scale)"]),
        (("--noise-ratio", "0.5", "1", "--seed", "0", "1"), ["noise 0.5", "noise 1"]),
        (("--noise-ratio", "0.5", "--epsilon", "9", "--copies", "3"), ["ε = 9", "noise 0.5"]),
        ((), ["noise 0.5", "noise 1", "noise 2"]),
    ],
)
def test_budgets_are_what_was_asked_for(
    run: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], asked: list[str]
) -> None:
    plans = _caught_plans(monkeypatch)
    run("audit", *options, "a.veil", "notes.txt", "--out", "out")
    [plan] = plans
    assert [budget.asked for budget in plan.budgets] == asked
    assert plan.seeds == ((0, 1) if "--seed" in options else (0,))
    assert plan.attacks == ("nearest", "averaging,releases=8")
    assert plan.defences == ("laplace", "purkayastha", "veil")
    assert plan.tasks == ("neighbours",)


def _caught_plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows with every plan; the command ends as soon as its plan is known."""
    plans: list[Any] = []

    def caught(plan: Any, *_: Any, **__: Any) -> Any:
        plans.append(plan)
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_package, "prepare", caught)
    return plans


def test_the_budget_of_the_veil_is_audited_where_none_is_named(
    run: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = _caught_plans(monkeypatch)
    made_veil(epsilon=7.0).save(place / "kept.veil")
    run("audit", "kept.veil", "notes.txt", "--out", "out", "--concept", "concept.toml")
    assert [budget.asked for budget in plans[0].budgets] == ["ε = 7"]


def test_options_reach_the_plan(run: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = _caught_plans(monkeypatch)
    options = "--attack mlc --attack averaging,releases=3 --task neighbours,queries=9 --baseline remove --judge mpnet"
    more = "--tolerance 0.3 --examples 0 --defence none"
    run("audit", "a.veil", "notes.txt", "--out", "out", *options.split(), *more.split())
    [plan] = plans
    assert plan.attacks == ("mlc", "averaging,releases=3", "nearest")
    assert (plan.tasks, plan.baselines, plan.defences) == (("neighbours,queries=9",), ("remove",), ())
    assert (plan.judge, plan.tolerance, plan.examples) == ("mpnet", 0.3, 0)


def test_noise_that_drowns_everything_is_told(run: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _caught_plans(monkeypatch)
    outcome = run("audit", "a.veil", "notes.txt", "--out", "out", "--epsilon", "0.1", "50")
    assert "ε = 0.1 is noise 84.9 times as long as an embedding" in outcome.err
    assert "--scale paper" in outcome.err
    assert "times as long" not in run("audit", "a.veil", "notes.txt", "--out", "out", "--epsilon", "50").err


PAIRS = "sentence1,sentence2,gold\na calm day,we rest,1\n"

REFUSALS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "negative epsilon": (("--epsilon", "5", "-5"), ("epsilon must be a finite number above zero, got -5.0",)),
    "no epsilon": (("--epsilon", "0"), ("epsilon must be", "0.0")),
    "no noise": (("--noise-ratio", "0"), ("noise ratio must be", "0.0")),
    "too little noise": (("--noise-ratio", "1e-7"), ("released in clear",)),
    "twice the same": (("--epsilon", "5", "5.0"), ("budgets of an audit must differ, got 'ε = 5' twice",)),
    "scale of nothing": (("--scale", "paper"), ("--scale paper says how to read --epsilon",)),
    "negative seed": (("--seed", "0", "-1"), ("seed must be", "-1")),
    "tolerance": (("--tolerance", "20"), ("tolerance must lie between 0 and 1, got 20.0",)),
    "attack": (("--attack", "mcl"), ("unknown attack 'mcl'; did you mean 'mlc'",)),
    "attack's setting": (("--attack", "mlc,epoch=2"), ("'epoch'; did you mean 'epochs'",)),
    "prior": (("--attack", "geia:nowhere"), ("there is no prior nowhere",)),
    "task": (("--task", "neighbors"), ("unknown utility task 'neighbors'; did you mean 'neighbours'",)),
    "task without file": (("--task", "sts"), ("write sts:FILE",)),
    "task of no file": (("--task", "sts:none.csv"), ("none.csv",)),
    "task without columns": (("--task", "sts:pairs.csv"), ("unknown column of pairs.csv 'score'", "gold")),
    "retrieval without files": (("--task", "retrieval:empty"), ("empty",)),
    "baseline": (("--baseline", "removal"), ("unknown rewriter 'removal'; did you mean 'remove'",)),
    "defence": (("--defence", "laplas"), ("unknown defence 'laplas'; did you mean 'laplace'",)),
    "judge": (("--judge", "mpnett"), ("unknown embedder 'mpnett'; did you mean 'mpnet'",)),
    "concept": (("--concept", "none.toml"), ("there is no concept file none.toml",)),
    "concept nowhere": (("--concept", "nowhere.toml"), ("the concept matches nothing in 200 text(s)",)),
    "column": (("--text-column", "body"), ("unknown column of notes.txt 'body'",)),
    "a file for a folder": (("--out", "notes.txt"), ("notes.txt is a file",)),
    "below a file": (("--out", "notes.txt/deep/out"), ("notes.txt/deep/out can't be a folder", "notes.txt is a file")),
    "folder of someone else": (("--out", "empty"), ("empty holds other things than an audit",)),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_bad_input_ends_in_one_line_and_leaves_nothing(run: CommandLine, place: Path, case: str) -> None:
    (place / "pairs.csv").write_text(PAIRS)
    (place / "nowhere.toml").write_text(toml_of(("X", ["absentia"])))
    (place / "empty").mkdir()
    (place / "empty" / "readme.txt").write_text("mine")
    options, named = REFUSALS[case]
    defence = () if case == "defence" else ("--defence", "veil")
    concept = () if "--concept" in options else ("--concept", "concept.toml")
    before = listing(place)
    outcome = run("audit", "a.veil", "notes.txt", "--out", "out", *defence, *concept, *options)
    check_refusal(outcome, *named, hidden=PRIVATE)
    assert listing(place) == before


def test_the_concept_must_be_known(run: CommandLine, place: Path) -> None:
    (place / "concept.toml").unlink()
    outcome = run(*AUDIT, *BUDGET)
    check_refusal(outcome, "name what is private with --concept FILE", "no file beside the veil fits it")


def test_too_few_texts_are_counted(run: CommandLine, place: Path) -> None:
    (place / "notes.txt").write_text("\n".join((place / "notes.txt").read_text().splitlines()[:80]))
    outcome = run(*AUDIT, *BUDGET, "--concept", "concept.toml")
    check_refusal(outcome, "needs at least 100 distinct texts", "got 60 among 80", hidden=PRIVATE)
    assert not (place / "out").exists()


def test_ctrl_c_says_where_what_was_computed_is(run: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Attacker, "attack", stop)
        outcome = run(*AUDIT, *BUDGET, "--concept", "concept.toml")
    assert outcome.code == 130
    assert outcome.err.strip() == "Stopped. What was computed is kept in out; repeat the command to go on."
    # Two probes and a task on unprotected vectors.
    assert len(list((place / "out" / "cells").iterdir())) == 3
    check_refusal(run("report", "out"), "out has no results.json: the audit in it is not finished")
    assert run(*AUDIT, *BUDGET, "--concept", "concept.toml").code == 0


def test_no_examples_no_texts(run: CommandLine, place: Path) -> None:
    outcome = run(*AUDIT, *BUDGET, "--concept", "concept.toml", "--examples", "0")
    assert outcome.code == 0, outcome.err
    content = b"".join(listing(place / "out").values()).decode()
    assert not any(word in content for word in PRIVATE)


def test_a_concept_of_one_word_is_probed_only(run: CommandLine, place: Path) -> None:
    (place / "one.toml").write_text(toml_of(("X", ILLNESSES[:1])))
    notes = [text for text in toy_texts(1000) if ILLNESSES[0] in text or not set(text.split()) & set(PRIVATE)]
    (place / "notes.txt").write_text("\n".join(notes))
    known = list(dict.fromkeys([*notes, *map(terms(ILLNESSES[0]).remove, notes)]))
    write_vectors(place / "known.parquet", known)
    outcome = run(*AUDIT, *BUDGET, "--concept", "one.toml")
    assert outcome.code == 0, outcome.err
    assert "Warning: the concept comes down to 1 sensitive word" in outcome.err
    result = AuditFolder(place / "out").result()
    assert result.attacks == ()
    assert len(result.probes) == 4
    assert (place / "out" / "report.html").exists()
    asked = run(*AUDIT, *BUDGET, "--concept", "one.toml", "--attack", "mlc")
    check_refusal(asked, "comes down to 1 sensitive word", "'mlc' can't run", hidden=PRIVATE)


def test_a_report_shows_examples_unless_told_not_to(run: CommandLine, done: Path) -> None:
    examples = AuditFolder(done / "out").examples()
    assert run("report", "out", "--title", "For the board").code == 0
    page = (done / "out" / "report.html").read_text()
    assert all(token in page for example in examples for token in example.tokens)
    assert "For the board" in page
    outcome = run("report", "out", "--no-texts", "--out", "shown.html")
    assert outcome.code == 0, outcome.err
    assert "report written to shown.html" in outcome.err
    shown = (done / "shown.html").read_text()
    assert not any(word in shown for word in PRIVATE)
    # The one with texts stays where it was, and can be read by its owner only.
    assert (done / "out" / "report.html").read_text() == page
    assert (done / "out" / "report.html").stat().st_mode & 0o077 == 0


def test_tables_hold_no_text(audited: Path) -> None:
    files = [*(audited / "out").glob("*.csv"), audited / "out" / "tables.md"]
    assert len(files) > 5
    for path in files:
        assert not any(word in path.read_text() for word in PRIVATE)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("nowhere",), ("nowhere has no results.json: it is not an audit's folder",)),
        (("a.veil",), ("a.veil has no results.json: it is not an audit's folder",)),
        (("out", "--out", "none/report.html"), ("none/report.html could not be written",)),
    ],
)
def test_a_report_that_cannot_be_written_is_refused(
    run: CommandLine, done: Path, arguments: tuple[str, ...], named: tuple[str, ...]
) -> None:
    check_refusal(run("report", *arguments), *named)


def test_broken_results_are_named(run: CommandLine, done: Path) -> None:
    (done / "out" / "results.json").write_text('{"plan": ')
    check_refusal(run("report", "out"), "out/results.json does not hold what an audit writes there")
