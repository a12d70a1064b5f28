"""An audit as a user runs it: the whole way with every attack, killed and gone on with, and with long texts."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.command_line import CommandLine, check_refusal, finished, listing, start
from support.corpora import CITIES, ILLNESSES, QUICK, TOY_CONCEPT, toy_texts, write_toy_place
from vecveil.attacks.training import one_thread
from vecveil.audit import RESULTS, AuditResult, Experiment

PRIVATE = ILLNESSES + CITIES
PLAN = ("--task", "neighbors", "--blanks", "0", "--baseline", "none", "--defense", "veil", "--noise-ratio", "1")
AUDIT = ("audit", "a.veil", "notes.txt", "--concept", "concept.toml", *PLAN)
NEAREST = (*AUDIT, "--attack", "nearest", "--out", "out")

SLOW_CELLS = """
import time
from vecveil.audit import Experiment
keep = Experiment._keep
def slow(*arguments):
    keep(*arguments)
    time.sleep(0.5)
Experiment._keep = slow
"""

SLOW_TRAINING = """
import time
from vecveil.attacks.checkpoint import Checkpoint
save = Checkpoint.save
def slow(*arguments):
    save(*arguments)
    time.sleep(0.5)
Checkpoint.save = slow
"""


@pytest.fixture
def place(work: Path) -> Path:
    write_toy_place(work)
    return work


def _wait(process: subprocess.Popen[str], there: Callable[[], bool]) -> None:
    while not there():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def _cells() -> list[Path]:
    return sorted(Path("out/cells").glob("[!.]*.json"))


def _timeless(path: Path) -> Any:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items() if key not in {"seconds", "finished"}}
        return [plain(each) for each in value] if isinstance(value, list) else value

    return plain(json.loads(path.read_text()))


def test_a_killed_audit_goes_on_where_it_was_and_ends_in_the_same_results(run: CommandLine, place: Path) -> None:
    process = start(*NEAREST, before=SLOW_CELLS)
    _wait(process, lambda: len(_cells()) >= 2)
    check_refusal(run(*NEAREST), "another process is at work in out")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    kept = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in _cells()}
    assert 2 <= len(kept) < 8
    assert not (place / "out" / "results.json").exists()
    check_refusal(run("report", "out"), "not finished")

    outcome = run(*NEAREST)
    assert outcome.code == 0, outcome.err
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in kept} == kept
    assert len(_cells()) == 8
    assert not any("draft" in name for name in listing(place))
    assert run(*NEAREST[:-1], "at-once").code == 0
    assert _timeless(place / "out" / "results.json") == _timeless(place / "at-once" / "results.json")
    assert _timeless(place / "out" / "examples.json") == _timeless(place / "at-once" / "examples.json")


def test_an_audit_that_was_killed_while_an_attack_was_in_training_goes_on_with_the_training(
    run: CommandLine, place: Path
) -> None:
    command = (*AUDIT, "--attack", QUICK)
    process = start(*command, "--out", "out", before=SLOW_TRAINING)
    _wait(process, lambda: bool(list(Path("out/checkpoints").glob("*/last.safetensors"))))
    time.sleep(0.7)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (place / "out").stat().st_mode & 0o077 == 0
    before = len(_cells())
    assert run(*command, "--out", "out").code == 0
    assert len(_cells()) > before
    assert not (place / "out" / "checkpoints").exists()
    assert run(*command, "--out", "at-once").code == 0
    assert _timeless(place / "out" / "results.json") == _timeless(place / "at-once" / "results.json")


def test_ctrl_c_ends_in_one_line_that_says_how_to_go_on(place: Path) -> None:
    process = start(*NEAREST, before=SLOW_CELLS)
    _wait(process, lambda: len(_cells()) >= 1)
    process.send_signal(signal.SIGINT)
    outcome = finished(process)
    assert outcome.code == 130
    assert outcome.err.strip() == "Stopped. What was computed is kept in out; repeat the command to go on."
    assert not any("draft" in name for name in listing(place))


LEARNED = ("--out", "a.veil", "--shape", "uniform")
SMALL = "epochs=1,width=16,layers=1,heads=2,vocabulary=300,max_tokens=12"


def test_the_whole_way_with_every_attack_and_task(run: CommandLine, work: Path, model_folder: Path) -> None:
    (work / "notes.txt").write_text("\n".join(toy_texts(160)))
    (work / "concept.toml").write_text(TOY_CONCEPT)
    (work / "pairs.csv").write_text(
        "sentence1,sentence2,score\na calm day,a calm walk,4\nwe rest,so long,1\nshe walks,she rests,3\n"
    )
    (work / "beir" / "qrels").mkdir(parents=True)
    documents = (json.dumps({"_id": f"d{row}", "title": "", "text": text}) for row, text in enumerate(toy_texts(30)))
    (work / "beir" / "corpus.jsonl").write_text("\n".join(documents))
    (work / "beir" / "queries.jsonl").write_text('{"_id": "q1", "text": "a calm day"}\n{"_id": "q2", "text": "rest"}\n')
    (work / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td4\t1\n")
    assert run("learn", "concept.toml", "notes.txt", "--embedder", model_folder, *LEARNED).code == 0
    attacks = ("mlc,epochs=3,hidden=[16]", f"geia,{SMALL},hidden=16", f"vec2text,{SMALL},steps=1,encoder_layers=1")
    # Threads cost more than they bring in networks this small, and many times more on a busy machine.
    with one_thread():
        outcome = run(
            *("audit", "a.veil", "notes.txt", "--out", "audit", "--paper-epsilon", "10"),
            *(part for attack in attacks for part in ("--attack", attack)),
            *("--attack", 'averaging,releases=2,settings={"epochs": 2}', "--defense", "veil"),
            *("--task", "sts:pairs.csv", "--task", "retrieval:beir", "--task", "neighbors", "--baseline", "remove"),
        )
    assert outcome.code == 0, outcome.err
    result = Experiment(work / "audit").read(RESULTS, AuditResult)
    names = ["mlc", "geia", "vec2text", "averaging"]
    assert [(row.setting.defense, row.attack) for row in result.attacks] == [
        (defense, name) for defense in ("none", "remove", "veil") for name in names
    ]
    assert {row.task for row in result.tasks} == {"sts:pairs.csv", "retrieval:beir", "neighbors"}
    assert [verdict.setting.asked for verdict in result.verdicts] == ["ε = 10 (paper's scale)"]
    page = (work / "audit" / "report.html").read_text()
    assert all(name in page for name in names)
    assert not any(word in outcome.out + outcome.err for word in PRIVATE)
    for name in ("results.json", "plan.json", "tables.md"):
        assert not any(word in (work / "audit" / name).read_text() for word in PRIVATE)


def test_texts_longer_than_the_model_takes_are_audited(run: CommandLine, work: Path, model_folder: Path) -> None:
    # The model reads 128 characters; every third text has ten times as many.
    texts = [text if row % 3 else f"{text} {'and so on ' * 120}" for row, text in enumerate(toy_texts(150))]
    (work / "notes.txt").write_text("\n".join(texts))
    (work / "concept.toml").write_text(TOY_CONCEPT)
    learned = run("learn", "concept.toml", "notes.txt", "--embedder", model_folder, *LEARNED)
    assert learned.code == 0, learned.err
    outcome = run(*NEAREST)
    assert outcome.code == 0, outcome.err
    assert Experiment(work / "out").read(RESULTS, AuditResult).corpus["texts"] == 150
